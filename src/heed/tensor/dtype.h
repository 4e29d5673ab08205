#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/bfloat16.h"
#include "heed/tensor/blocks.h"
#include "heed/tensor/float16.h"

namespace heed {

/// How elements are stored. f32 and bf16 are computed with, the others only read and written:
/// weights lie in files in these types. Those from q4_0 on keep elements in blocks (blocks.h).
enum class DType : uint8_t { f32, bf16, f16, i32, q4_0, q4_1, q8_0, q6_K };

/// "f32", "bf16", "q4_0", ...
std::string_view name_of(DType dtype);

/// Elements that are stored together: 1, or those of a block.
constexpr int64_t block_elements(DType dtype) {
  switch (dtype) {
    case DType::q4_0:
      return BlockQ4_0::kElements;
    case DType::q4_1:
      return BlockQ4_1::kElements;
    case DType::q8_0:
      return BlockQ8_0::kElements;
    case DType::q6_K:
      return BlockQ6_K::kElements;
    default:
      return 1;
  }
}

/// Bytes of an element, or of a block.
constexpr int64_t block_bytes(DType dtype) {
  switch (dtype) {
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::q4_0:
      return sizeof(BlockQ4_0);
    case DType::q4_1:
      return sizeof(BlockQ4_1);
    case DType::q8_0:
      return sizeof(BlockQ8_0);
    case DType::q6_K:
      return sizeof(BlockQ6_K);
    default:
      return 4;
  }
}

/// Whether an element can be had without its neighbours.
constexpr bool is_plain(DType dtype) { return block_elements(dtype) == 1; }

/// Bytes of `elements` elements that lie one after the other: of a row, or of whole rows. Elements
/// beyond the last whole block are not counted.
constexpr int64_t bytes_of(DType dtype, int64_t elements) {
  return elements / block_elements(dtype) * block_bytes(dtype);
}

/// Bytes of one element of a plain type; throws Error for the others.
constexpr int64_t size_of(DType dtype) {
  if (!is_plain(dtype)) fail("an element of {} has no size of its own", name_of(dtype));
  return block_bytes(dtype);
}

template <typename T>
inline constexpr DType dtype_of = [] { static_assert(!sizeof(T), "not an element type"); }();
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<bfloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<float16> = DType::f16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<BlockQ4_0> = DType::q4_0;
template <>
inline constexpr DType dtype_of<BlockQ4_1> = DType::q4_1;
template <>
inline constexpr DType dtype_of<BlockQ8_0> = DType::q8_0;
template <>
inline constexpr DType dtype_of<BlockQ6_K> = DType::q6_K;

/// Calls visitor(float{}) or visitor(bfloat16{}) by a dtype that is computed with; throws Error for
/// the others.
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

/// The same for every dtype that can hold real numbers: float, bfloat16, float16 or a block. Throws
/// Error for i32.
template <typename Visitor>
decltype(auto) visit_stored(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f16:
      return visitor(float16{});
    case DType::q4_0:
      return visitor(BlockQ4_0{});
    case DType::q4_1:
      return visitor(BlockQ4_1{});
    case DType::q8_0:
      return visitor(BlockQ8_0{});
    case DType::q6_K:
      return visitor(BlockQ6_K{});
    default:
      return visit_floating(dtype, visitor);
  }
}

}  // namespace heed
