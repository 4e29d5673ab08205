#pragma once

#include <cstdint>
#include <string_view>

#include "heed/export.h"

namespace heed {

/// The arithmetic of products with weights. int8 multiplies weights stored in blocks as integers
/// and quantises their inputs.
enum class Compute : uint8_t { f32, bf16, int8 };

/// "f32", "bf16" or "int8".
constexpr std::string_view name_of(Compute compute) {
  switch (compute) {
    case Compute::f32:
      return "f32";
    case Compute::bf16:
      return "bf16";
    case Compute::int8:
      return "int8";
  }
  return "?";
}

/// Throws Error unless the environment variable HEED_CPU, if it is set, names a kind of machine:
/// baseline, avx2, avx2_vnni, avx512, avx512_bf16 or amx; on Arm baseline or dotprod. heed uses no
/// instructions that such a machine lacks. The variable is read when heed is loaded. Every product
/// throws the same.
HEED_EXPORT void require_known_machine();

}  // namespace heed
