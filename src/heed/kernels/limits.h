#pragma once

#include <cstdint>
#include <string_view>

namespace heed::kernels {

/// The type of factors; sums are f32, or 32-bit integers for int8.
enum class Arithmetic { f32, bf16, int8 };
/// "f32", "bf16" or "int8".
std::string_view name_of(Arithmetic arithmetic);

/// The peak arithmetic of the machine.
struct ArithmeticRate {
  double operations_per_second = 0;    // a multiply-add counts as two
  std::string_view instructions = {};  // used: "AVX-512", "AMX"
};

/// The peak rate of products on all threads, with factors in registers and the fastest instructions
/// of this machine; the best of many short runs within about `seconds`. Without instructions for
/// bf16 or int8, the rate of those that replace them.
ArithmeticRate measure_arithmetic(Arithmetic arithmetic, double seconds);

/// Bytes per second at which all threads together read one area of `bytes` bytes (at least 1 MiB)
/// repeatedly; the best pass within about `seconds`. An area larger than the caches measures
/// memory. Throws std::bad_alloc if the area cannot be allocated.
double measure_reading(int64_t bytes, double seconds);

}  // namespace heed::kernels
