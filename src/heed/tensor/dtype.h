#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/bfloat16.h"
#include "heed/tensor/blocks.h"
#include "heed/tensor/float16.h"

namespace heed {

/// "f32", "bf16", "q4_0", ...
constexpr std::string_view name_of(DType dtype) { return traits_of(dtype).name; }

/// The dtype of that name, if there is one.
constexpr std::optional<DType> dtype_named(std::string_view name) {
  for (const BlockTraits& type : kStoredTypes)
    if (type.name == name) return type.dtype;
  return std::nullopt;
}

/// Elements of a block; 1 for a plain type.
constexpr int64_t block_elements(DType dtype) { return traits_of(dtype).elements; }

/// Bytes of an element, or of a block.
constexpr int64_t block_bytes(DType dtype) { return traits_of(dtype).bytes; }

/// Whether each element is stored on its own, not in a block.
constexpr bool is_plain(DType dtype) { return traits_of(dtype).is_plain(); }

/// Bytes of `elements` consecutive elements: of a row, or of whole rows. Elements beyond the last
/// whole block are not counted.
constexpr int64_t bytes_of(DType dtype, int64_t elements) {
  return elements / block_elements(dtype) * block_bytes(dtype);
}

/// Bytes of one element of a plain type; throws Error for the others.
constexpr int64_t size_of(DType dtype) {
  if (!is_plain(dtype)) fail("an element of {} has no size of its own", name_of(dtype));
  return block_bytes(dtype);
}

/// The DType of elements or blocks of type T.
template <typename T>
inline constexpr DType dtype_of = T::kTraits.dtype;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<bfloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<float16> = DType::f16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::i32;

/// Calls visitor(float{}) for f32 or visitor(bfloat16{}) for bf16. Throws Error for other dtypes.
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

/// Calls visitor(Block{}) for a block type. Throws Error for the others.
template <typename Visitor, typename Block, typename... Others>
decltype(auto) visit_block(DType dtype, Visitor&& visitor, TypeList<Block, Others...>) {
  if constexpr (sizeof...(Others) > 0)
    if (dtype != dtype_of<Block>) return visit_block(dtype, visitor, TypeList<Others...>());
  if (dtype != dtype_of<Block>) fail("a block type was expected, found {}", name_of(dtype));
  return visitor(Block{});
}
template <typename Visitor>
decltype(auto) visit_block(DType dtype, Visitor&& visitor) {
  return visit_block(dtype, visitor, BlockTypes());
}

/// The same for every dtype that can hold real numbers: float, bfloat16, float16 or a block. Throws
/// Error for i32.
template <typename Visitor>
decltype(auto) visit_stored(DType dtype, Visitor&& visitor) {
  if (!is_plain(dtype)) return visit_block(dtype, visitor);
  if (dtype == DType::f16) return visitor(float16{});
  return visit_floating(dtype, visitor);
}

}  // namespace heed
