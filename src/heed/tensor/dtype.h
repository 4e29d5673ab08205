#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/bfloat16.h"

namespace heed {

enum class DType : uint8_t { f32, bf16, i32 };

/// Bytes of one element.
constexpr int64_t size_of(DType dtype) { return dtype == DType::bf16 ? 2 : 4; }

/// "f32", "bf16" or "i32".
std::string_view name_of(DType dtype);

template <typename T>
inline constexpr DType dtype_of = [] { static_assert(!sizeof(T), "not an element type"); }();
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<bfloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::i32;

/// Calls visitor(float{}) or visitor(bfloat16{}) by a floating dtype; throws Error for i32.
template <typename Visitor>
decltype(auto) visit_floating(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f32:
      return visitor(float{});
    case DType::bf16:
      return visitor(bfloat16{});
    default:
      fail("a floating dtype was expected, found {}", name_of(dtype));
  }
}

}  // namespace heed
