// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial.
//
// The stream is chosen by the attribute `seed` where given, else by the identity of the application, so that a run
// repeats and two nodes differ.
#include "kernels/core/philox.h"
#include "kernels/core/random.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {

uint64_t StreamSeed(const KernelContext& ctx) {
  if (const float* seed = FindAttr<float>(ctx.op().attrs, "seed")) {
    uint32_t bits;
    std::memcpy(&bits, seed, sizeof(bits));
    return bits;
  }
  if (const int64_t* seed = FindAttr<int64_t>(ctx.op().attrs, "seed")) return static_cast<uint64_t>(*seed);
  return ctx.op().identity + (uint64_t{1} << 63);
}

namespace {

absl::StatusOr<DType> WantedType(const KernelContext& ctx, DType fallback) {
  const int64_t t = IntAttr(ctx, "dtype", 0);
  if (t == 0) return fallback;
  if (t < 0 || t > static_cast<int64_t>(DType::kI4)) return Bad(ctx, "dtype is %d", t);
  return static_cast<DType>(t);
}

template <bool kNormal>
absl::Status Draw(KernelContext& ctx, DType dtype, const Dims& dims) {
  const double a = FloatAttr(ctx, kNormal ? "mean" : "low", 0.0f);
  const double b = FloatAttr(ctx, kNormal ? "scale" : "high", 1.0f);
  const Philox philox(StreamSeed(ctx));
  return Dispatch<kFloats>(ctx.op(), dtype, [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, dims));
    T* out = y->template mutable_data<T>();
    for (int64_t i = 0; i < y->size(); ++i) {
      const double v = kNormal ? a + b * philox.Normal(i) : a + (b - a) * philox.Uniform(i);
      out[i] = static_cast<T>(static_cast<C>(v));
    }
    return absl::OkStatus();
  });
}

template <bool kNormal>
absl::Status RandomShape(KernelContext& ctx) {
  const Ints* shape = IntsAttr(ctx, "shape");
  if (shape == nullptr) return Bad(ctx, "shape is missing");
  RT_ASSIGN_OR_RETURN(const DType dtype, WantedType(ctx, DType::kF32));
  return Draw<kNormal>(ctx, dtype, Dims(shape->begin(), shape->end()));
}

template <bool kNormal>
absl::Status RandomLike(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const DType dtype, WantedType(ctx, x->dtype()));
  return Draw<kNormal>(ctx, dtype, x->dims());
}

absl::Status Bernoulli(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const DType dtype, WantedType(ctx, x->dtype()));
  if (!IsFloat(x->dtype())) return UnservedType(ctx.op(), x->dtype());
  const Philox philox(StreamSeed(ctx));
  return Dispatch<kNumeric | kBools>(ctx.op(), dtype, [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, x->dims()));
    T* out = y->template mutable_data<T>();
    for (int64_t i = 0; i < y->size(); ++i) out[i] = static_cast<T>(philox.Uniform(i) < x->At(i) ? 1 : 0);
    return absl::OkStatus();
  });
}

// x: unnormalised log probabilities [batch, classes]; out: class numbers [batch, sample_size].
absl::Status Multinomial(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const DType dtype, WantedType(ctx, DType::kI32));
  if (!IsFloat(x->dtype())) return UnservedType(ctx.op(), x->dtype());
  const int64_t samples = IntAttr(ctx, "sample_size", 1);
  if (x->rank() != 2 || x->dim(1) < 1) return Bad(ctx, "input is %s, expected [batch, classes]", DimsToString(x->dims()));
  if (samples < 1) return Bad(ctx, "sample_size is %d", samples);
  const int64_t batch = x->dim(0), classes = x->dim(1);
  const Philox philox(StreamSeed(ctx));
  return Dispatch<Bit(DType::kI32) | Bit(DType::kI64)>(
      ctx.op(), dtype, [&]<typename T>(TypeTag<T>) -> absl::Status {
        RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, {batch, samples}));
        T* out = y->template mutable_data<T>();
        std::vector<double> below(classes);
        for (int64_t b = 0; b < batch; ++b) {
          double top = x->At(b * classes), sum = 0;
          for (int64_t c = 1; c < classes; ++c) top = std::max(top, x->At(b * classes + c));
          for (int64_t c = 0; c < classes; ++c) below[c] = sum += std::exp(x->At(b * classes + c) - top);
          for (int64_t s = 0; s < samples; ++s) {
            const double u = philox.Uniform(b * samples + s) * sum;
            const int64_t c = std::upper_bound(below.begin(), below.end(), u) - below.begin();
            *out++ = static_cast<T>(std::min(c, classes - 1));
          }
        }
        return absl::OkStatus();
      });
}

}  // namespace

void RegisterRandom(KernelRegistry& r) {
  r.Add("RandomNormal", RandomShape<true>);
  r.Add("RandomUniform", RandomShape<false>);
  r.Add("RandomNormalLike", RandomLike<true>);
  r.Add("RandomUniformLike", RandomLike<false>);
  r.Add("Bernoulli", Bernoulli);
  r.Add("Multinomial", Multinomial);
}

}  // namespace retuple::internal
