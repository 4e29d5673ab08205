#pragma once

#include <cstdint>
#include <string_view>

#include "heed/compute.h"
#include "heed/export.h"

namespace heed {

/// The peak arithmetic of the machine.
struct ArithmeticRate {
  double operations_per_second = 0;    // a multiply-add counts as two
  std::string_view instructions = {};  // used: "AVX-512", "AMX"
};

/// The peak rate of products on all threads, with factors in registers and the fastest instructions
/// of this machine; the best of many short runs within about `seconds`. Without instructions for
/// bf16 or int8, the rate of those that replace them.
HEED_EXPORT ArithmeticRate measure_arithmetic(Compute factors, double seconds);

/// Bytes per second at which all threads together read one area of `bytes` bytes (at least 1 MiB)
/// repeatedly; the best pass within about `seconds`. An area larger than the caches measures
/// memory. Throws std::bad_alloc if the area cannot be allocated.
HEED_EXPORT double measure_reading(int64_t bytes, double seconds);

/// Bytes of memory that this process can still allocate: what the system has available, within the
/// limit of the process's cgroup.
HEED_EXPORT int64_t available_memory();

}  // namespace heed
