// Numbers as text and back, for Cast from and to strings.
#ifndef RETUPLE_KERNELS_CORE_NUMBER_TEXT_H_
#define RETUPLE_KERNELS_CORE_NUMBER_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace retuple::internal {

// The shortest decimal that reads back: "0.6048455", "1.0", "1e-07", "1.5e+16"; fixed notation for
// 1e-4 <= |x| < 1e16 as in NumPy. "NaN", "INF", "-INF".
std::string FormatFloat(float x);
std::string FormatFloat(double x);
// Plain or scientific notation, optional sign, "inf", "infinity" and "nan" in any case, surrounding blanks. False if
// it is not a number. Values beyond the range give infinity.
bool ParseFloat(std::string_view text, double* out);
bool ParseFloat(std::string_view text, float* out);
// An integer, or a float text that is truncated. False if it is not a number or does not fit.
bool ParseInt(std::string_view text, int64_t* out);
bool ParseUint(std::string_view text, uint64_t* out);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_NUMBER_TEXT_H_
