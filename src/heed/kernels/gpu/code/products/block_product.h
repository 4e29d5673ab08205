#pragma once

#include "heed/kernels/gpu/code/blocks/packed_blocks.h"
#include "heed/kernels/gpu/code/products/matmul_blocks.h"

// What the kernels that multiply with blocks share.

namespace heed::kernels::gpu {

/// The product that block_x() works on; `begin`: how far it is in it.
HEED_DEVICE const MatmulBlocksArguments::Product& own_product(const MatmulBlocksArguments& in,
                                                              int& begin) {
  const int block = static_cast<int>(heed::gpu::block_x());
  int i = 0;
  while (i + 1 < in.count && block >= in.products[i + 1].first_block) ++i;
  begin = block - in.products[i].first_block;
  return in.products[i];
}

HEED_DEVICE int quads_of(const MatmulBlocksArguments& in) {
  return (in.units + Record::kUnits - 1) / Record::kUnits;
}

template <typename Block>
HEED_DEVICE const std::byte* strip_of(const MatmulBlocksArguments& in,
                                      const MatmulBlocksArguments::Product& product, int strip) {
  constexpr BlockLayout kLayout = kBlockLayout<Block>;
  const int groups = (quads_of(in) + kLayout.quads - 1) / kLayout.quads;
  return product.weight + static_cast<int64_t>(strip) * groups * kLayout.bytes;
}

/// c[row, column] = sum + bias.
HEED_DEVICE void put_element(const MatmulBlocksArguments::Product& product, int row, int column,
                             float sum) {
  if (product.bias) sum += product.bias[column];
  const int64_t at = static_cast<int64_t>(row) * product.rows + column;
  if (product.bf16)
    static_cast<Bf16*>(product.c)[at] = narrow<Bf16>(sum);
  else
    static_cast<float*>(product.c)[at] = sum;
}

/// Sums of a's integers in unit u, from a record: for columns 2 t and 2 t + 1.
template <typename Block>
HEED_DEVICE void load_sums(const std::byte* record, int t, int u, float (&sums)[2][2]) {
  constexpr int kCount = kMinimums<Block>;
  if constexpr (kCount > 0) {
    constexpr int kAt = kCount == 1 ? Record::kSums : Record::kHalfSums;
    uint32_t words[2 * kCount];
    load_words<2 * kCount>(record + kAt + (t * Record::kUnits + u) * 8 * kCount, words);
    for (int half = 0; half < kCount; ++half)
      for (int i = 0; i < 2; ++i) sums[i][half] = heed::gpu::float_of_bits(words[2 * half + i]);
  }
}

}  // namespace heed::kernels::gpu
