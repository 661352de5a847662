// BatchNormalization: y = (x − mean) / √(var + ε) · scale + bias, a channel at a time.
//
// In inference mode mean and variance are inputs. In training mode they are those of the batch, and
// the running values are moved towards them: running = running · momentum + current · (1 −
// momentum). The forms before 14 have no mode attribute: form 1 says `is_test`, forms 7 and 9 train
// when a further output is asked for. With `spatial` 0 (forms 1 and 7) every activation has a mean
// of its own.
#include "kernels/dense/batch_norm.h"

#include <cmath>

#include "kernels/dense/register.h"
#include "kernels/dense/rows.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

class BatchNormalizationKernel final : public Kernel {
 public:
  BatchNormalizationKernel(const Op& op, bool relu) : relu_(relu) {
    const std::string form = op.form();
    epsilon_ = AttrOr<float>(op.attrs, "epsilon", 1e-5f);
    momentum_ = AttrOr<float>(op.attrs, "momentum", 0.9f);
    spatial_ = AttrOr<int64_t>(op.attrs, "spatial", 1) != 0;
    if (form == "BatchNormalization") {
      training_ = AttrOr<int64_t>(op.attrs, "training_mode", 0) != 0;
    } else if (form == "BatchNormalization-1") {
      training_ = AttrOr<int64_t>(op.attrs, "is_test", 0) == 0;
    } else {
      trains_for_outputs_ = true;
    }
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    if (x->rank() < 1) return Bad(ctx, "the operand is a scalar");
    const int64_t batch = x->rank() > 1 ? x->dim(0) : 1;
    const int64_t channel_axis = x->rank() > 1 ? 1 : 0;
    const int64_t rest = Product(x->dims(), static_cast<int>(channel_axis) + 1, x->rank());
    const int64_t channels = spatial_ ? x->dim(static_cast<int>(channel_axis))
                                      : x->dim(static_cast<int>(channel_axis)) * rest;
    const int64_t size = spatial_ ? rest : 1;
    std::array<const Tensor*, 4> p;
    for (int i = 0; i < 4; ++i) {
      RT_ASSIGN_OR_RETURN(p[static_cast<size_t>(i)], Input(ctx, i + 1));
      const Tensor& t = *p[static_cast<size_t>(i)];
      if (t.size() != channels)
        return Bad(ctx, "input %d has %d elements for %d channels", i + 1, t.size(), channels);
      if (!IsFloat(t.dtype()))
        return Bad(ctx, "input %d is %s", i + 1, std::string(DTypeName(t.dtype())));
    }
    if (x->dtype() == DType::kF64) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), x->dims()));
      return Compute<double>(ctx, batch, channels, size, p, x->data<double>(),
                             y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
      return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
    }
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), x->dims()));
    RT_RETURN_IF_ERROR(Compute<float>(ctx, batch, channels, size, p, px, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  bool Training(const KernelContext& ctx) const {
    if (!trains_for_outputs_) return training_;
    for (int i = 1; i < ctx.num_outputs(); ++i) {
      if (ctx.output_used(i)) return true;
    }
    return false;
  }

  // x: [batch, channels, size].
  template <typename T>
  absl::Status Compute(KernelContext& ctx, int64_t batch, int64_t channels, int64_t size,
                       const std::array<const Tensor*, 4>& p, const T* x, T* y) const {
    RT_ASSIGN_OR_RETURN(T * scale, ScratchOf<T>(ctx, 2 * channels));
    T* shift = scale + channels;
    const bool training = Training(ctx);
    RT_ASSIGN_OR_RETURN(double* stats, ScratchOf<double>(ctx, training ? 2 * channels : 0));
    if (training && batch * size == 0 && channels > 0)
      return Bad(ctx, "training on an empty batch");
    const bool floats = p[0]->dtype() == DType::kF32 && p[1]->dtype() == DType::kF32 &&
                        p[2]->dtype() == DType::kF32 && p[3]->dtype() == DType::kF32;
    if (floats && std::is_same_v<T, float> && !training) {
      const float *g = p[0]->data<float>(), *b = p[1]->data<float>(), *mean = p[2]->data<float>(),
                  *var = p[3]->data<float>();
      for (int64_t c = 0; c < channels; ++c) {
        scale[c] = g[c] / std::sqrt(var[c] + epsilon_);
        shift[c] = b[c] - mean[c] * scale[c];
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        double mean = 0, var = 0;
        if (training) {
          Moments(batch, channels, size, c, x, &mean, &var);
          stats[c] = mean;
          stats[channels + c] = var;
        } else {
          mean = p[2]->At(c);
          var = p[3]->At(c);
        }
        const double s = p[0]->At(c) / std::sqrt(var + static_cast<double>(epsilon_));
        scale[c] = static_cast<T>(s);
        shift[c] = static_cast<T>(p[1]->At(c) - mean * s);
      }
    }
    if (training) RT_RETURN_IF_ERROR(WriteStatistics(ctx, channels, p, stats));
    ctx.threads().ParallelFor(batch * channels, 1 + 20000 / (size + 1),
                              [&](int64_t begin, int64_t end) {
                                if (size == 1) {
                                  for (int64_t i = begin; i < end; ++i) {
                                    const T v = x[i] * scale[i % channels] + shift[i % channels];
                                    y[i] = relu_ && v < T{0} ? T{0} : v;
                                  }
                                  return;
                                }
                                for (int64_t i = begin; i < end; ++i) {
                                  const T a = scale[i % channels], b = shift[i % channels];
                                  const T* from = x + i * size;
                                  T* to = y + i * size;
                                  if (relu_) {
                                    RT_IVDEP
                                    for (int64_t k = 0; k < size; ++k) {
                                      const T v = from[k] * a + b;
                                      to[k] = v < T{0} ? T{0} : v;
                                    }
                                    continue;
                                  }
                                  RT_IVDEP
                                  for (int64_t k = 0; k < size; ++k) to[k] = from[k] * a + b;
                                }
                              });
    return absl::OkStatus();
  }

  template <typename T>
  static void Moments(int64_t batch, int64_t channels, int64_t size, int64_t c, const T* x,
                      double* mean, double* var) {
    const auto count = static_cast<double>(batch * size);
    double sum = 0, square = 0;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t k = 0; k < size; ++k)
        sum += static_cast<double>(x[(n * channels + c) * size + k]);
    }
    *mean = sum / count;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t k = 0; k < size; ++k) {
        const double d = static_cast<double>(x[(n * channels + c) * size + k]) - *mean;
        square += d * d;
      }
    }
    *var = square / count;
  }

  // Outputs 1 and 2 are the running mean and variance; 3 and 4 (older forms) those of the batch.
  absl::Status WriteStatistics(KernelContext& ctx, int64_t channels,
                               const std::array<const Tensor*, 4>& p, const double* stats) const {
    for (int o = 1; o < ctx.num_outputs() && o < 5; ++o) {
      if (!ctx.output_used(o)) continue;
      const Tensor& old = *p[o % 2 == 1 ? 2 : 3];
      const double* current = stats + (o % 2 == 1 ? 0 : channels);
      const double keep = o <= 2 ? static_cast<double>(momentum_) : 0.0;
      RT_ASSIGN_OR_RETURN(Tensor * t, ctx.Output(o, old.dtype(), old.dims()));
      for (int64_t c = 0; c < channels; ++c) {
        const double v = (keep == 0 ? 0 : old.At(c) * keep) + current[c] * (1 - keep);
        switch (old.dtype()) {
          case DType::kF64:
            t->mutable_data<double>()[c] = v;
            break;
          case DType::kF32:
            t->mutable_data<float>()[c] = static_cast<float>(v);
            break;
          case DType::kF16:
            t->mutable_data<uint16_t>()[c] = FloatToF16(static_cast<float>(v));
            break;
          case DType::kBF16:
            t->mutable_data<uint16_t>()[c] = FloatToBF16(static_cast<float>(v));
            break;
          default:
            return Unserved(ctx, "statistics of type %s", std::string(DTypeName(old.dtype())));
        }
      }
    }
    return absl::OkStatus();
  }

  bool relu_;
  float epsilon_ = 1e-5f, momentum_ = 0.9f;
  bool spatial_ = true, training_ = false, trains_for_outputs_ = false;
};

absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelInit& init) {
  return MakeBatchNormalization(init, false);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeBatchNormalization(const KernelInit& init, bool relu) {
  return std::make_unique<BatchNormalizationKernel>(init.op, relu);
}

void RegisterBatchNormalization(KernelRegistry& r) {
  for (const char* form : {"BatchNormalization", "BatchNormalization-9", "BatchNormalization-7",
                           "BatchNormalization-1"}) {
    r.AddFactory(form, Make, {.in_place = true});
  }
}

}  // namespace retuple::internal
