#include "kernels/dense/recurrent.h"

#include <array>
#include <cmath>

#include "absl/strings/ascii.h"
#include "kernels/core/fast_math.h"

namespace retuple::internal {
namespace {

struct FunctionName {
  const char* name;
  CellFunction::Kind kind;
  bool takes_alpha, takes_beta;
  float alpha, beta;
};
using Kind = CellFunction::Kind;
constexpr FunctionName kFunctions[] = {
    {"sigmoid", Kind::kSigmoid, false, false, 0, 0},
    {"tanh", Kind::kTanh, false, false, 0, 0},
    {"relu", Kind::kRelu, false, false, 0, 0},
    {"affine", Kind::kAffine, true, true, 1, 0},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01f, 0},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", Kind::kElu, true, false, 1, 0},
    {"softsign", Kind::kSoftsign, false, false, 0, 0},
    {"softplus", Kind::kSoftplus, false, false, 0, 0},
};

template <typename T, typename F>
void Map(T* x, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

}  // namespace

template <typename T>
void CellFunction::Apply(T* x, int64_t n) const {
  const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
  switch (kind) {
    case Kind::kSigmoid:
      return Map(x, n, [](T v) { return Sigmoid(v); });
    case Kind::kTanh:
      return Map(x, n, [](T v) { return Tanh(v); });
    case Kind::kRelu:
      return Map(x, n, [](T v) { return v < 0 ? T{0} : v; });
    case Kind::kAffine:
      return Map(x, n, [=](T v) { return a * v + b; });
    case Kind::kLeakyRelu:
      return Map(x, n, [=](T v) { return v < 0 ? a * v : v; });
    case Kind::kThresholdedRelu:
      return Map(x, n, [=](T v) { return v > a ? v : T{0}; });
    case Kind::kScaledTanh:
      return Map(x, n, [=](T v) { return a * Tanh(b * v); });
    case Kind::kHardSigmoid:
      return Map(x, n, [=](T v) { return std::max(T{0}, std::min(T{1}, a * v + b)); });
    case Kind::kElu:
      return Map(x, n, [=](T v) { return v < 0 ? a * (std::exp(v) - 1) : v; });
    case Kind::kSoftsign:
      return Map(x, n, [](T v) { return v / (1 + std::abs(v)); });
    case Kind::kSoftplus:
      return Map(x, n, [](T v) { return std::max(v, T{0}) + std::log1p(std::exp(-std::abs(v))); });
  }
}
template void CellFunction::Apply<float>(float*, int64_t) const;
template void CellFunction::Apply<double>(double*, int64_t) const;

absl::StatusOr<RecurrentAttrs> RecurrentAttrs::Read(const Op& op,
                                                    const std::vector<CellFunction>& defaults) {
  RecurrentAttrs a;
  auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", op.form(), what));
  };
  const std::string direction =
      absl::AsciiStrToLower(AttrOr<std::string>(op.attrs, "direction", "forward"));
  if (direction == "bidirectional") {
    a.direction = Direction::kBidirectional;
  } else if (direction == "reverse") {
    a.direction = Direction::kReverse;
  } else if (direction != "forward") {
    return bad(absl::StrFormat("direction '%s' is unknown", direction));
  }
  a.hidden = AttrOr<int64_t>(op.attrs, "hidden_size", -1);
  a.batch_first = AttrOr<int64_t>(op.attrs, "layout", 0) != 0;
  a.linear_before_reset = AttrOr<int64_t>(op.attrs, "linear_before_reset", 0) != 0;
  a.input_forget = AttrOr<int64_t>(op.attrs, "input_forget", 0) != 0;
  a.clip = AttrOr<float>(op.attrs, "clip", 0.0f);
  const auto directions = static_cast<size_t>(a.directions());
  const Strings names = AttrOr<Strings>(op.attrs, "activations", {});
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d)
      a.functions.insert(a.functions.end(), defaults.begin(), defaults.end());
    return a;
  }
  // RNN's schema lists a function a direction even where there is one direction.
  if (names.size() < defaults.size() * directions)
    return bad(absl::StrFormat("%d activations", names.size()));
  const Floats alphas = AttrOr<Floats>(op.attrs, "activation_alpha", {});
  const Floats betas = AttrOr<Floats>(op.attrs, "activation_beta", {});
  size_t next_alpha = 0, next_beta = 0;
  for (size_t i = 0; i < defaults.size() * directions; ++i) {
    const std::string name = absl::AsciiStrToLower(names[i]);
    const FunctionName* found = nullptr;
    for (const FunctionName& f : kFunctions) {
      if (name == f.name) found = &f;
    }
    if (found == nullptr) return bad(absl::StrFormat("activation '%s' is unknown", names[i]));
    CellFunction f{found->kind, found->alpha, found->beta};
    if (found->takes_alpha && next_alpha < alphas.size()) f.alpha = alphas[next_alpha++];
    if (found->takes_beta && next_beta < betas.size()) f.beta = betas[next_beta++];
    a.functions.push_back(f);
  }
  return a;
}

namespace {

template <typename T>
using Packs = std::vector<PackedMatrix<T>>;

// [directions, n, k] as k × n matrices, packed.
template <typename T>
Packs<T> PackTransposed(const T* w, int64_t directions, int64_t n, int64_t k) {
  Packs<T> p;
  for (int64_t d = 0; d < directions; ++d) p.emplace_back(k, n, Strided<T>{w + d * n * k, 1, k});
  return p;
}

class RecurrentKernel final : public Kernel {
 public:
  RecurrentKernel(RecurrentAttrs attrs, const CellKind& kind, const KernelInit& init)
      : attrs_(std::move(attrs)), kind_(kind) {
    auto constant = [&](size_t i) -> const Tensor* {
      const Tensor* t = i < init.constants.size() ? init.constants[i] : nullptr;
      const bool good =
          t != nullptr && t->dtype() == DType::kF32 && t->rank() == 3 && t->size() > 0;
      return good ? t : nullptr;
    };
    const Tensor *w = constant(1), *r = constant(2);
    if (w != nullptr) w_ = PackTransposed(w->data<float>(), w->dim(0), w->dim(1), w->dim(2));
    if (r != nullptr) r_ = PackTransposed(r->data<float>(), r->dim(0), r->dim(1), r->dim(2));
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    if (x->dtype() == DType::kF64) return Compute<double>(ctx, *x, kind_.step64);
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
      return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
    }
    return Compute<float>(ctx, *x, kind_.step32);
  }

 private:
  absl::StatusOr<RecurrentShape> Shape(const KernelContext& ctx, const Tensor& x, const Tensor& w,
                                       const Tensor& r) const {
    RecurrentShape s;
    s.gates = kind_.gates;
    s.directions = attrs_.directions();
    s.batch_first = attrs_.batch_first;
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
      return Bad(ctx, "X, W and R must have rank 3");
    s.seq = x.dim(s.batch_first ? 1 : 0);
    s.batch = x.dim(s.batch_first ? 0 : 1);
    s.input = x.dim(2);
    s.hidden = r.dim(2);
    if (attrs_.hidden >= 0 && attrs_.hidden != s.hidden) {
      return Bad(ctx, "hidden_size is %d, R has %d", attrs_.hidden, s.hidden);
    }
    int64_t width = 0;
    if (MulOverflows(s.gates, s.hidden, &width) || w.dim(0) != s.directions ||
        r.dim(0) != s.directions || w.dim(1) != width || r.dim(1) != width || w.dim(2) != s.input) {
      return Bad(ctx, "X %s, W %s and R %s do not agree", DimsToString(x.dims()),
                 DimsToString(w.dims()), DimsToString(r.dims()));
    }
    constexpr int64_t kMost = int64_t{1} << 30;
    if (s.seq > kMost || s.batch > kMost || s.hidden > kMost) {
      return Unserved(ctx, "X %s and R %s", DimsToString(x.dims()), DimsToString(r.dims()));
    }
    if (ctx.has(4)) {
      RT_ASSIGN_OR_RETURN(const auto lengths, RequiredInts(ctx, 4));
      if (static_cast<int64_t>(lengths.size()) != s.batch)
        return Bad(ctx, "%d sequence_lens for a batch of %d", lengths.size(), s.batch);
      for (int64_t n : lengths) {
        if (n < 0 || n > s.seq) return Bad(ctx, "a sequence length of %d in %d steps", n, s.seq);
      }
      s.lengths = lengths;
    }
    return s;
  }

  // Input i as T; null when absent. `size`: elements that it must have.
  template <typename T>
  absl::StatusOr<const T*> Optional(KernelContext& ctx, int i, int64_t size, DType dtype) const {
    if (!ctx.has(i)) return static_cast<const T*>(nullptr);
    RT_ASSIGN_OR_RETURN(const Tensor* t, InputOf(ctx, i, dtype));
    if (t->size() != size)
      return Bad(ctx, "input %d has shape %s, expected %d elements", i, DimsToString(t->dims()),
                 size);
    if constexpr (std::is_same_v<T, float>) {
      return AsFloats(ctx, *t);
    } else {
      return t->data<T>();
    }
  }

  // An output as T: its own memory, or scratch to be narrowed; null when unused.
  template <typename T>
  absl::StatusOr<T*> Result(KernelContext& ctx, int i, DType dtype, Dims dims,
                            Tensor** narrow) const {
    *narrow = nullptr;
    if (!ctx.output_used(i)) return static_cast<T*>(nullptr);
    RT_ASSIGN_OR_RETURN(Tensor * t, ctx.Output(i, dtype, std::move(dims)));
    if (!Is16Bit(dtype)) return t->mutable_data<T>();
    *narrow = t;
    return ScratchOf<T>(ctx, t->size());
  }

  template <typename T>
  absl::Status Compute(KernelContext& ctx, const Tensor& x, CellStep<T> step) const {
    const DType dtype = x.dtype();
    RT_ASSIGN_OR_RETURN(const Tensor* w, InputOf(ctx, 1, dtype));
    RT_ASSIGN_OR_RETURN(const Tensor* r, InputOf(ctx, 2, dtype));
    RT_ASSIGN_OR_RETURN(const RecurrentShape s, Shape(ctx, x, *w, *r));
    const int64_t width = s.width(), hidden = s.hidden, dirs = s.directions;
    RT_ASSIGN_OR_RETURN(const T* px, Optional<T>(ctx, 0, x.size(), dtype));
    RT_ASSIGN_OR_RETURN(const T* bias, Optional<T>(ctx, 3, dirs * 2 * width, dtype));
    RT_ASSIGN_OR_RETURN(const T* h0, Optional<T>(ctx, 5, dirs * s.batch * hidden, dtype));
    const T *c0 = nullptr, *peepholes = nullptr;
    if (kind_.has_cell_state) {
      RT_ASSIGN_OR_RETURN(c0, Optional<T>(ctx, 6, dirs * s.batch * hidden, dtype));
      RT_ASSIGN_OR_RETURN(peepholes, Optional<T>(ctx, 7, dirs * 3 * hidden, dtype));
    }
    std::array<Tensor*, 3> narrow{};
    const Dims y_dims =
        s.batch_first ? Dims{s.batch, s.seq, dirs, hidden} : Dims{s.seq, dirs, s.batch, hidden};
    const Dims state_dims =
        s.batch_first ? Dims{s.batch, dirs, hidden} : Dims{dirs, s.batch, hidden};
    RT_ASSIGN_OR_RETURN(T * y, Result<T>(ctx, 0, dtype, y_dims, &narrow[0]));
    RT_ASSIGN_OR_RETURN(T * y_h, Result<T>(ctx, 1, dtype, state_dims, &narrow[1]));
    T* y_c = nullptr;
    if (kind_.has_cell_state) {
      RT_ASSIGN_OR_RETURN(y_c, Result<T>(ctx, 2, dtype, state_dims, &narrow[2]));
    }

    Packs<T> w_here, r_here;
    const Packs<T>*w_packs = &w_here, *r_packs = &r_here;
    if constexpr (std::is_same_v<T, float>) {
      if (!w_.empty()) w_packs = &w_;
      if (!r_.empty()) r_packs = &r_;
    }
    if (w_packs->empty()) {
      RT_ASSIGN_OR_RETURN(const T* p, Optional<T>(ctx, 1, w->size(), dtype));
      w_here = PackTransposed(p, dirs, width, s.input);
    }
    if (r_packs->empty()) {
      RT_ASSIGN_OR_RETURN(const T* p, Optional<T>(ctx, 2, r->size(), dtype));
      r_here = PackTransposed(p, dirs, width, hidden);
    }

    const int64_t rows = s.seq * s.batch;
    int64_t all = 0;
    if (MulOverflows(rows, width, &all)) return Bad(ctx, "sizes overflow");
    RT_ASSIGN_OR_RETURN(T * inputs, ScratchOf<T>(ctx, all));
    RT_ASSIGN_OR_RETURN(T * work,
                        ScratchOf<T>(ctx, s.batch * (2 * width + 5 * hidden) + 2 * width));
    T* pre = work;
    T* tmp = pre + s.batch * width;
    T* h = tmp + s.batch * (width + hidden);
    T* c = h + s.batch * hidden;
    T* old_h = c + s.batch * hidden;
    T* old_c = old_h + s.batch * hidden;
    T* sum_bias = old_c + s.batch * hidden;
    for (int d = 0; d < dirs; ++d) {
      Direction<T> dir;
      dir.w = &(*w_packs)[static_cast<size_t>(d)];
      dir.r = &(*r_packs)[static_cast<size_t>(d)];
      dir.functions =
          attrs_.functions.data() +
          static_cast<size_t>(d) * (attrs_.functions.size() / static_cast<size_t>(dirs));
      dir.peepholes = peepholes != nullptr ? peepholes + d * 3 * hidden : nullptr;
      if (bias != nullptr) {
        const T* wb = bias + d * 2 * width;
        dir.r_bias = wb + width;
        for (int64_t i = 0; i < width; ++i) sum_bias[i] = wb[i] + dir.r_bias[i];
        if (attrs_.linear_before_reset)
          std::copy(wb + 2 * hidden, wb + width, sum_bias + 2 * hidden);
        dir.bias = sum_bias;
      }
      dir.w->Multiply(&ctx.threads(), rows, {px, s.input, 1}, dir.bias, inputs, width);
      for (int64_t b = 0; b < s.batch; ++b) {
        const int64_t at = s.state_row(b, d) * hidden;
        for (int64_t i = 0; i < hidden; ++i) {
          h[b * hidden + i] = h0 != nullptr ? h0[at + i] : T{0};
          c[b * hidden + i] = c0 != nullptr ? c0[at + i] : T{0};
        }
      }
      for (int64_t k = 0; k < s.seq; ++k) {
        bool partial = false;
        for (int64_t b = 0; b < s.batch; ++b) {
          const int64_t length = s.lengths.empty() ? s.seq : s.lengths[static_cast<size_t>(b)];
          partial = partial || k >= length;
          const int64_t t = k >= length ? k : attrs_.reversed(d) ? length - 1 - k : k;
          const T* row = inputs + s.x_row(t, b) * width;
          std::copy(row, row + width, pre + b * width);
        }
        if (partial) {
          std::copy(h, h + s.batch * hidden, old_h);
          std::copy(c, c + s.batch * hidden, old_c);
        }
        step(attrs_, s, dir, ctx.threads(), pre, h, c, tmp);
        for (int64_t b = 0; b < s.batch; ++b) {
          const int64_t length = s.lengths.empty() ? s.seq : s.lengths[static_cast<size_t>(b)];
          if (k >= length) {  // past the end: the state stays, the output is 0
            std::copy_n(old_h + b * hidden, hidden, h + b * hidden);
            std::copy_n(old_c + b * hidden, hidden, c + b * hidden);
            if (y != nullptr) std::fill_n(y + s.y_row(k, b, d) * hidden, hidden, T{0});
          } else if (y != nullptr) {
            const int64_t t = attrs_.reversed(d) ? length - 1 - k : k;
            std::copy_n(h + b * hidden, hidden, y + s.y_row(t, b, d) * hidden);
          }
        }
      }
      for (int64_t b = 0; b < s.batch; ++b) {
        const int64_t at = s.state_row(b, d) * hidden;
        if (y_h != nullptr) std::copy_n(h + b * hidden, hidden, y_h + at);
        if (y_c != nullptr) std::copy_n(c + b * hidden, hidden, y_c + at);
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      const std::array<T*, 3> wide{y, y_h, y_c};
      for (size_t i = 0; i < 3; ++i) {
        if (narrow[i] != nullptr)
          NarrowFloats(dtype, wide[i], narrow[i]->size(), narrow[i]->mutable_data());
      }
    }
    return absl::OkStatus();
  }

  RecurrentAttrs attrs_;
  CellKind kind_;
  Packs<float> w_, r_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeRecurrent(const KernelInit& init, const CellKind& kind,
                                                      const std::vector<CellFunction>& defaults) {
  RT_ASSIGN_OR_RETURN(RecurrentAttrs attrs, RecurrentAttrs::Read(init.op, defaults));
  return std::make_unique<RecurrentKernel>(std::move(attrs), kind, init);
}

}  // namespace retuple::internal
