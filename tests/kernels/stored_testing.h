#pragma once

#include <cmath>
#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/quantize.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {

/// Every dtype of real numbers, every block type, and those that quantize() writes.
inline std::vector<DType> dtypes_where(bool (*holds)(DType)) {
  std::vector<DType> dtypes;
  for (const BlockTraits& type : kStoredTypes)
    if (holds(type.dtype)) dtypes.push_back(type.dtype);
  return dtypes;
}
inline const std::vector<DType> kStored =
    dtypes_where([](DType dtype) { return dtype != DType::i32; });
inline const std::vector<DType> kBlocks =
    dtypes_where([](DType dtype) { return !is_plain(dtype); });
inline const std::vector<DType> kWritten = dtypes_where(is_written);

/// Sets the scale, and the minimum, of a block. MXFP4 rounds a scale to a power of two.
template <typename Block>
void set_scale(Block& block, float new_scale, float new_minimum) {
  if constexpr (Block::kTraits.dtype == DType::mxfp4)
    block.exponent = static_cast<uint8_t>(128 + std::ilogb(new_scale));
  else
    block.scale = float16(new_scale);
  if constexpr (Block::kTraits.has_minimum) block.minimum = float16(new_minimum);
}

/// Blocks of random bytes with scales of about 2^-8, or normal numbers of a plain type.
inline Tensor random_stored(const Shape& shape, DType dtype, uint64_t seed) {
  Tensor x = Tensor::empty(shape, dtype);
  if (is_plain(dtype)) {
    reference::quantize_weighted(normals(shape, seed), {}, x);
    return x;
  }
  const CounterRandom random(seed);
  for (int64_t i = 0; i < x.bytes(); ++i)
    x.raw()[i] = static_cast<std::byte>(random.bits(static_cast<uint64_t>(i)) >> 50);
  const auto random_scale = [&](uint64_t i) {
    return 0x1p-8f * static_cast<float>(random.normal(i));
  };
  visit_block(dtype, [&](auto zero) {
    using Block = decltype(zero);
    for (uint64_t i = 0; i < x.values<Block>().size(); ++i)
      set_scale(x.data<Block>()[i], random_scale(2 * i), random_scale(2 * i + 1));
  });
  return x;
}

}  // namespace heed::kernels
