// The cells of LSTM, GRU and RNN. Equations as in the operators' documentation; σ etc. are the
// node's functions.
#include <cmath>

#include "kernels/core/fast_math.h"
#include "kernels/dense/recurrent.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

using Kind = CellFunction::Kind;

template <typename T>
void Clip(float clip, T* x, int64_t n) {
  if (!(clip > 0)) return;
  const T c = static_cast<T>(clip);
  for (int64_t i = 0; i < n; ++i) x[i] = std::max(-c, std::min(c, x[i]));
}

// pre += h · Rᵀ.
template <typename T>
void AddRecurrent(const RecurrentShape& s, const Direction<T>& d, ThreadPool& threads, T* pre,
                  const T* h, T* tmp) {
  const int64_t width = s.width();
  if (s.batch == 1) {
    d.r->Multiply(&threads, 1, {h, s.hidden, 1}, pre, tmp, width);
    std::copy(tmp, tmp + width, pre);
    return;
  }
  d.r->Multiply(&threads, s.batch, {h, s.hidden, 1}, nullptr, tmp, width);
  for (int64_t i = 0; i < s.batch * width; ++i) pre[i] += tmp[i];
}

// h = f(x Wᵀ + h Rᵀ + b).
template <typename T>
void RnnStep(const RecurrentAttrs& a, const RecurrentShape& s, const Direction<T>& d,
             ThreadPool& threads, T* pre, T* h, T*, T* tmp) {
  AddRecurrent(s, d, threads, pre, h, tmp);
  Clip(a.clip, pre, s.batch * s.hidden);
  d.functions[0].Apply(pre, s.batch * s.hidden);
  std::copy(pre, pre + s.batch * s.hidden, h);
}

// The usual LSTM in f32, in one pass.
void PlainLstm(int64_t n, const float* __restrict g, float* __restrict h, float* __restrict c) {
  for (int64_t i = 0; i < n; ++i) {
    const float cell =
        FastSigmoid(g[2 * n + i]) * c[i] + FastSigmoid(g[i]) * FastTanh(g[3 * n + i]);
    c[i] = cell;
    h[i] = FastSigmoid(g[n + i]) * FastTanh(cell);
  }
}

// Gates i, o, f, c̃:
//   i = f(… + Pi ⊙ c), f = f(… + Pf ⊙ c), c̃ = g(…), c' = f ⊙ c + i ⊙ c̃, o = f(… + Po ⊙ c'), h = o ⊙
//   h(c').
template <typename T>
void LstmStep(const RecurrentAttrs& a, const RecurrentShape& s, const Direction<T>& d,
              ThreadPool& threads, T* pre, T* h, T* c, T* tmp) {
  AddRecurrent(s, d, threads, pre, h, tmp);
  const int64_t n = s.hidden;
  if constexpr (std::is_same_v<T, float>) {
    if (d.functions[0].kind == Kind::kSigmoid && d.functions[1].kind == Kind::kTanh &&
        d.functions[2].kind == Kind::kTanh && d.peepholes == nullptr && !a.input_forget &&
        !(a.clip > 0)) {
      for (int64_t b = 0; b < s.batch; ++b) PlainLstm(n, pre + b * 4 * n, h + b * n, c + b * n);
      return;
    }
  }
  for (int64_t b = 0; b < s.batch; ++b) {
    T *gi = pre + b * 4 * n, *go = gi + n, *gf = gi + 2 * n, *gc = gi + 3 * n;
    T *cb = c + b * n, *hb = h + b * n;
    const T* p = d.peepholes;
    if (p != nullptr) {
      for (int64_t i = 0; i < n; ++i) {
        gi[i] += p[i] * cb[i];
        gf[i] += p[2 * n + i] * cb[i];
      }
    }
    Clip(a.clip, gi, n);
    d.functions[0].Apply(gi, n);
    if (a.input_forget) {
      for (int64_t i = 0; i < n; ++i) gf[i] = T{1} - gi[i];
    } else {
      Clip(a.clip, gf, n);
      d.functions[0].Apply(gf, n);
    }
    Clip(a.clip, gc, n);
    d.functions[1].Apply(gc, n);
    for (int64_t i = 0; i < n; ++i) cb[i] = gf[i] * cb[i] + gi[i] * gc[i];
    if (p != nullptr) {
      for (int64_t i = 0; i < n; ++i) go[i] += p[n + i] * cb[i];
    }
    Clip(a.clip, go, n);
    d.functions[0].Apply(go, n);
    std::copy(cb, cb + n, hb);
    d.functions[2].Apply(hb, n);
    for (int64_t i = 0; i < n; ++i) hb[i] *= go[i];
  }
}

// Gates z, r, h̃: z, r = f(x Wᵀ + h Rᵀ + b); h̃ = g(x Whᵀ + (r ⊙ h) Rhᵀ + …), or with
// linear_before_reset g(x Whᵀ + r ⊙ (h Rhᵀ + Rbh) + Wbh); h' = (1 − z) ⊙ h̃ + z ⊙ h.
template <typename T>
void GruStep(const RecurrentAttrs& a, const RecurrentShape& s, const Direction<T>& d,
             ThreadPool& threads, T* pre, T* h, T*, T* tmp) {
  const int64_t n = s.hidden, width = s.width();
  d.r->Multiply(&threads, s.batch, {h, n, 1}, nullptr, tmp, width);
  T* reset = tmp + s.batch * width;  // [batch, n]
  for (int64_t b = 0; b < s.batch; ++b) {
    T* g = pre + b * width;
    const T* recurrent = tmp + b * width;
    for (int64_t i = 0; i < 2 * n; ++i) g[i] += recurrent[i];
    Clip(a.clip, g, 2 * n);
    d.functions[0].Apply(g, 2 * n);
    for (int64_t i = 0; i < n; ++i) {
      if (a.linear_before_reset) {
        g[2 * n + i] +=
            g[n + i] * (recurrent[2 * n + i] + (d.r_bias != nullptr ? d.r_bias[2 * n + i] : T{0}));
      } else {
        reset[b * n + i] = g[n + i] * h[b * n + i];
      }
    }
  }
  if (!a.linear_before_reset) {
    d.r->Multiply(&threads, s.batch, {reset, n, 1}, nullptr, tmp, width);
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t i = 2 * n; i < width; ++i) pre[b * width + i] += tmp[b * width + i];
    }
  }
  for (int64_t b = 0; b < s.batch; ++b) {
    T* g = pre + b * width;
    Clip(a.clip, g + 2 * n, n);
    d.functions[1].Apply(g + 2 * n, n);
    for (int64_t i = 0; i < n; ++i)
      h[b * n + i] = (T{1} - g[i]) * g[2 * n + i] + g[i] * h[b * n + i];
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeRnn(const KernelInit& init) {
  return MakeRecurrent(init, {1, false, RnnStep<float>, RnnStep<double>}, {{Kind::kTanh, 0, 0}});
}
absl::StatusOr<std::unique_ptr<Kernel>> MakeGru(const KernelInit& init) {
  return MakeRecurrent(init, {3, false, GruStep<float>, GruStep<double>},
                       {{Kind::kSigmoid, 0, 0}, {Kind::kTanh, 0, 0}});
}
absl::StatusOr<std::unique_ptr<Kernel>> MakeLstm(const KernelInit& init) {
  return MakeRecurrent(init, {4, true, LstmStep<float>, LstmStep<double>},
                       {{Kind::kSigmoid, 0, 0}, {Kind::kTanh, 0, 0}, {Kind::kTanh, 0, 0}});
}

}  // namespace

void RegisterRecurrent(KernelRegistry& r) {
  r.AddFactory("RNN", MakeRnn);
  r.AddFactory("RNN-1", MakeRnn);
  r.AddFactory("GRU", MakeGru);
  r.AddFactory("GRU-1", MakeGru);
  r.AddFactory("LSTM", MakeLstm);
  r.AddFactory("LSTM-1", MakeLstm);
}

}  // namespace retuple::internal
