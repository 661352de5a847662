// One step of Adagrad, Adam and Momentum (domain ai.onnx.preview.training).
//
// Inputs: rate R, step count T, then for n parameters the lists X (values), G (gradients) and the
// states; outputs: the new values and states in the same order. The gradient is regularised first:
// g = norm_coefficient · x + G.
#include <cmath>

#include "kernels/dense/register.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

absl::StatusOr<double> ScalarInput(const KernelContext& ctx, int i) {
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  if (t->size() != 1 || !(IsFloat(t->dtype()) || IsInteger(t->dtype())))
    return Bad(ctx, "input %d is not one number", i);
  return t->At(0);
}

// For each parameter calls update(x, g, s, t), which replaces x and the states s and t (the second
// only where `lists` is 4).
template <typename F>
absl::Status Update(KernelContext& ctx, int lists, F update) {
  const int given = ctx.num_inputs() - 2;
  if (given < 0 || given % lists != 0) return Bad(ctx, "%d inputs", ctx.num_inputs());
  const int n = given / lists;
  if (ctx.num_outputs() != n * (lists - 1))
    return Bad(ctx, "%d outputs for %d parameters", ctx.num_outputs(), n);
  for (int i = 0; i < n; ++i) {
    const Tensor* in[4] = {};
    for (int l = 0; l < lists; ++l) {
      RT_ASSIGN_OR_RETURN(in[l], Input(ctx, 2 + l * n + i));
      if (in[l]->dtype() != in[0]->dtype() || in[l]->dims() != in[0]->dims()) {
        return Bad(ctx, "input %d differs in type or shape from its parameter", 2 + l * n + i);
      }
    }
    auto run = [&]<typename T>(T) -> absl::Status {
      T* out[3] = {};
      for (int l = 0; l + 1 < lists; ++l) {
        RT_ASSIGN_OR_RETURN(Tensor * t, ctx.Output(l * n + i, in[0]->dtype(), in[0]->dims()));
        out[l] = t->mutable_data<T>();
      }
      for (int64_t k = 0; k < in[0]->size(); ++k) {
        double x = static_cast<double>(in[0]->data<T>()[k]);
        double s = static_cast<double>(in[2]->data<T>()[k]);
        double t = lists == 4 ? static_cast<double>(in[3]->data<T>()[k]) : 0.0;
        update(x, static_cast<double>(in[1]->data<T>()[k]), s, t);
        out[0][k] = static_cast<T>(x);
        out[1][k] = static_cast<T>(s);
        if (lists == 4) out[2][k] = static_cast<T>(t);
      }
      return absl::OkStatus();
    };
    if (in[0]->dtype() == DType::kF32) {
      RT_RETURN_IF_ERROR(run(float{}));
    } else if (in[0]->dtype() == DType::kF64) {
      RT_RETURN_IF_ERROR(run(double{}));
    } else {
      return Unserved(ctx, "element type %s", std::string(DTypeName(in[0]->dtype())));
    }
  }
  return absl::OkStatus();
}

double Number(const KernelContext& ctx, std::string_view name, float fallback) {
  return static_cast<double>(FloatAttr(ctx, name, fallback));
}

// h += g²; x −= R / (1 + T · decay) · g / (√h + ε).
absl::Status Adagrad(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const double rate, ScalarInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(const double count, ScalarInput(ctx, 1));
  const double norm = Number(ctx, "norm_coefficient", 0), epsilon = Number(ctx, "epsilon", 1e-6f);
  const double r = rate / (1 + count * Number(ctx, "decay_factor", 0));
  return Update(ctx, 3, [=](double& x, double g, double& h, double&) {
    g += norm * x;
    h += g * g;
    x -= r * g / (std::sqrt(h) + epsilon);
  });
}

// v = αv + (1 − α)g; h = βh + (1 − β)g²; x −= R' v / (√h + ε), R' = R √(1 − βᵀ) / (1 − αᵀ) for T >
// 0.
absl::Status Adam(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const double rate, ScalarInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(const double count, ScalarInput(ctx, 1));
  const double alpha = Number(ctx, "alpha", 0.9f), beta = Number(ctx, "beta", 0.999f);
  const double norm = Number(ctx, "norm_coefficient", 0),
               post = Number(ctx, "norm_coefficient_post", 0);
  const double epsilon = Number(ctx, "epsilon", 1e-6f);
  const double r =
      count > 0 ? rate * std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count)) : rate;
  return Update(ctx, 4, [=](double& x, double g, double& v, double& h) {
    g += norm * x;
    v = alpha * v + (1 - alpha) * g;
    h = beta * h + (1 - beta) * g * g;
    x = (1 - post) * (x - r * v / (std::sqrt(h) + epsilon));
  });
}

// v = αv + β'g (β' = β for T > 0, else 1); x −= R v, or with Nesterov's method R (g + αv).
absl::Status Momentum(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const double rate, ScalarInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(const double count, ScalarInput(ctx, 1));
  const std::string mode = StringAttr(ctx, "mode", "standard");
  if (mode != "standard" && mode != "nesterov") return Bad(ctx, "mode '%s' is unknown", mode);
  const double alpha = Number(ctx, "alpha", 0), norm = Number(ctx, "norm_coefficient", 0);
  const double beta = count > 0 ? Number(ctx, "beta", 0) : 1;
  const bool nesterov = mode == "nesterov";
  return Update(ctx, 3, [=](double& x, double g, double& v, double&) {
    g += norm * x;
    v = alpha * v + beta * g;
    x -= rate * (nesterov ? g + alpha * v : v);
  });
}

}  // namespace

void RegisterOptimizers(KernelRegistry& r) {
  r.Add("ai.onnx.preview.training::Adagrad", Adagrad);
  r.Add("ai.onnx.preview.training::Adam", Adam);
  r.Add("ai.onnx.preview.training::Momentum", Momentum);
}

}  // namespace retuple::internal
