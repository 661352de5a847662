// Scan (axis and direction of each scanned input and output) and its batched form of opset 8.
#include "kernels/core/util.h"
#include "kernels/dense/register.h"
#include "kernels/dense/stack.h"
#include "kernels/memory.h"

namespace retuple::internal {
namespace {

bool Flag(const Ints* v, size_t i) { return v != nullptr && i < v->size() && (*v)[i] != 0; }

// A scan over inputs that have no batch axis.
struct ScanRun {
  std::vector<Value> state;
  std::vector<Tensor> inputs;
  std::vector<int> axes;
  const Ints* directions = nullptr;
  std::vector<std::vector<Tensor>> outputs;
};

absl::Status Iterate(KernelContext& ctx, const Graph& body, int64_t length, ScanRun& run) {
  const size_t n = run.state.size(), m = run.inputs.size(), results = body.outputs().size();
  if (results < n) return Bad(ctx, "the body has %d outputs for %d states", results, n);
  const size_t k = results - n;
  run.outputs.assign(k, {});
  std::vector<Value> args(n + m);
  for (int64_t t = 0; t < length; ++t) {
    for (size_t i = 0; i < n; ++i) args[i] = std::move(run.state[i]);
    for (size_t i = 0; i < m; ++i) {
      args[n + i] =
          Select(run.inputs[i], run.axes[i], Flag(run.directions, i) ? length - 1 - t : t);
    }
    RT_ASSIGN_OR_RETURN(std::vector<Value> out, ctx.RunSubgraph("body", args));
    for (size_t i = 0; i < n; ++i) run.state[i] = std::move(out[i]);
    for (size_t i = 0; i < k; ++i) {
      if (!out[n + i].is_tensor()) return Bad(ctx, "scan output %d is not a tensor", i);
      run.outputs[i].push_back(std::move(out[n + i].tensor));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> NumScanInputs(const KernelContext& ctx, size_t available) {
  const int64_t m = IntAttr(ctx, "num_scan_inputs", 1);
  if (m < 1 || static_cast<uint64_t>(m) > available) {
    return Bad(ctx, "num_scan_inputs is %d with %d inputs", m, available);
  }
  return static_cast<size_t>(m);
}

absl::Status Scan(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Graph* body, BodyOf(ctx, "body"));
  const auto total = static_cast<size_t>(ctx.num_inputs());
  RT_ASSIGN_OR_RETURN(const size_t m, NumScanInputs(ctx, total));
  const size_t n = total - m;
  ScanRun run;
  run.directions = IntsAttr(ctx, "scan_input_directions");
  const Ints* axes = IntsAttr(ctx, "scan_input_axes");
  for (size_t i = 0; i < n; ++i) run.state.push_back(ctx.value(static_cast<int>(i)));
  int64_t length = 0;
  for (size_t i = 0; i < m; ++i) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, static_cast<int>(n + i)));
    const int64_t a = axes != nullptr && i < axes->size() ? (*axes)[i] : 0;
    RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, a, t->rank()));
    if (i == 0) length = t->dim(axis);
    if (t->dim(axis) != length)
      return Bad(ctx, "scan inputs of length %d and %d", length, t->dim(axis));
    run.inputs.push_back(*t);
    run.axes.push_back(axis);
  }
  RT_RETURN_IF_ERROR(Iterate(ctx, *body, length, run));
  if (static_cast<size_t>(ctx.num_outputs()) > n + run.outputs.size()) {
    return Bad(ctx, "%d outputs, the body gives %d", ctx.num_outputs(), n + run.outputs.size());
  }
  const Ints* out_axes = IntsAttr(ctx, "scan_output_axes");
  const Ints* out_directions = IntsAttr(ctx, "scan_output_directions");
  for (int o = 0; o < ctx.num_outputs(); ++o) {
    const auto i = static_cast<size_t>(o);
    if (i < n) {
      ctx.SetOutput(o, std::move(run.state[i]));
      continue;
    }
    const size_t j = i - n;
    const int64_t axis = out_axes != nullptr && j < out_axes->size() ? (*out_axes)[j] : 0;
    if (length == 0) {
      RT_RETURN_IF_ERROR(EmptyStack(ctx, o, *body, i, axis));
    } else {
      RT_RETURN_IF_ERROR(Stack(ctx, o, run.outputs[j], axis, Flag(out_directions, j)));
    }
  }
  return absl::OkStatus();
}

// Opset 8: input 0 is sequence_lens (optional), every other tensor has a batch axis 0, scanned
// inputs the time axis 1. Results past the end of a shorter sequence are zero.
absl::Status Scan8(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Graph* body, BodyOf(ctx, "body"));
  const auto total = static_cast<size_t>(std::max(ctx.num_inputs() - 1, 0));
  RT_ASSIGN_OR_RETURN(const size_t m, NumScanInputs(ctx, total));
  const size_t n = total - m;
  int64_t batch = -1, length = -1;
  std::vector<const Tensor*> in(total);
  for (size_t i = 0; i < total; ++i) {
    RT_ASSIGN_OR_RETURN(in[i], Input(ctx, static_cast<int>(i) + 1));
    if (in[i]->rank() < (i < n ? 1 : 2))
      return Bad(ctx, "input %d has rank %d", i + 1, in[i]->rank());
    if (batch < 0) batch = in[i]->dim(0);
    if (in[i]->dim(0) != batch) return Bad(ctx, "batch sizes %d and %d", batch, in[i]->dim(0));
    if (i < n) continue;
    if (length < 0) length = in[i]->dim(1);
    if (in[i]->dim(1) != length)
      return Bad(ctx, "sequence lengths %d and %d", length, in[i]->dim(1));
  }
  RT_ASSIGN_OR_RETURN(const auto lens, IntsInput(ctx, 0));
  if (lens && static_cast<int64_t>(lens->size()) != batch) {
    return Bad(ctx, "sequence_lens has %d elements for a batch of %d", lens->size(), batch);
  }
  if (batch == 0) return Unserved(ctx, "an empty batch");
  const size_t k = body->outputs().size() > n ? body->outputs().size() - n : 0;
  std::vector<std::vector<Tensor>> states(n), outputs(k);
  for (int64_t b = 0; b < batch; ++b) {
    ScanRun run;
    run.directions = IntsAttr(ctx, "directions");
    const int64_t steps = lens ? (*lens)[static_cast<size_t>(b)] : length;
    if (steps < 0 || steps > length)
      return Bad(ctx, "sequence_lens[%d] is %d of %d", b, steps, length);
    if (steps == 0 && k > 0) return Unserved(ctx, "an empty sequence in the batch");
    for (size_t i = 0; i < n; ++i) run.state.emplace_back(Select(*in[i], 0, b));
    for (size_t i = 0; i < m; ++i) {
      run.inputs.push_back(Select(*in[n + i], 0, b));
      run.axes.push_back(0);
    }
    RT_RETURN_IF_ERROR(Iterate(ctx, *body, steps, run));
    for (size_t i = 0; i < n; ++i) {
      if (!run.state[i].is_tensor()) return Bad(ctx, "state %d is not a tensor", i);
      states[i].push_back(std::move(run.state[i].tensor));
    }
    for (size_t i = 0; i < k; ++i) {
      // [steps, …] in rows of [length, …], the rest zero.
      Dims dims = run.outputs[i][0].dims();
      const DType dtype = run.outputs[i][0].dtype();
      const int64_t row = NumElements(dims);
      dims.insert(dims.begin(), length);
      const std::optional<int64_t> size = CheckedNumElements(dims);
      if (!size || static_cast<uint64_t>(*size) > kMaxBufferBytes / 16)
        return Bad(ctx, "scan output %d is too large", i);
      Tensor all(dtype, dims);
      if (!all.defined()) return Bad(ctx, "scan output %d is too large", i);
      if (dtype != DType::kString && all.bytes() > 0)
        std::memset(all.mutable_data(), 0, all.bytes());
      for (size_t t = 0; t < run.outputs[i].size(); ++t) {
        const Tensor& item = run.outputs[i][t];
        if (item.dtype() != dtype || item.size() != row)
          return Bad(ctx, "scan output %d changes shape", i);
        CopyElements(dtype, DTypeSize(dtype), all.mutable_data(), static_cast<int64_t>(t) * row,
                     item.data(), 0, row);
      }
      outputs[i].push_back(std::move(all));
    }
  }
  for (int o = 0; o < ctx.num_outputs(); ++o) {
    const auto i = static_cast<size_t>(o);
    if (i >= n + k) return Bad(ctx, "%d outputs, the body gives %d", ctx.num_outputs(), n + k);
    RT_RETURN_IF_ERROR(Stack(ctx, o, i < n ? states[i] : outputs[i - n]));
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterScan(KernelRegistry& r) {
  r.Add("Scan", Scan);
  r.Add("Scan-8", Scan8);
}

}  // namespace retuple::internal
