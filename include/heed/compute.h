#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace heed
