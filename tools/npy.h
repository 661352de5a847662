// NumPy's .npy files, format 1.0 to 3.0, C order, little-endian numbers and bools.
#ifndef RETUPLE_TOOLS_NPY_H_
#define RETUPLE_TOOLS_NPY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir_bridge/tensor.h"

namespace retuple {

// InvalidArgument for what is not such a file.
absl::StatusOr<Tensor> ReadNpy(std::string_view bytes);
// Unimplemented for element types that NumPy does not have (bf16, strings, 8-bit floats).
absl::StatusOr<std::string> WriteNpy(const Tensor& t);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_NPY_H_
