#pragma once

#include <cstdint>
#include <string_view>

namespace heed::kernels {

/// What is multiplied; sums are f32, of int8 they are 32-bit integers.
enum class Arithmetic { f32, bf16, int8 };
/// "f32", "bf16" or "int8".
std::string_view name_of(Arithmetic arithmetic);

/// How much arithmetic the machine can do.
struct ArithmeticRate {
  double operations_per_second = 0;    // two for a product that is added to a sum
  std::string_view instructions = {};  // by which: "AVX-512", "AMX"
};

/// The rate of products whose factors stay in registers, on all threads, with the fastest
/// instructions that this machine has: what no program can exceed. The best of many short runs
/// within about `seconds`. Without instructions for bf16 or int8, what it takes to do their work
/// with others.
ArithmeticRate measure_arithmetic(Arithmetic arithmetic, double seconds);

/// Bytes per second at which all threads together read one area of `bytes` bytes (at least 1 MiB)
/// again and again; the best pass within about `seconds`. An area larger than the caches measures
/// memory. Throws std::bad_alloc when there is no such area.
double measure_reading(int64_t bytes, double seconds);

}  // namespace heed::kernels
