#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/kernels/cpu/gemm_blocks/pack.h"

namespace heed::kernels::cpu {
namespace {

/// A column of a panel being written.
struct Column {
  const PanelLayout& layout;
  std::byte* panel;
  int64_t col;

  /// The f16 with this index among those of the column; infinity becomes NaN.
  void put_scale(int64_t index, float16 scale) const {
    if (std::isinf(static_cast<float>(scale)))
      scale = float16(std::numeric_limits<float>::quiet_NaN());
    std::memcpy(panel + index * kScaleBytes + 2 * col, &scale, sizeof(scale));
  }
  void put_sub_scale(int64_t block, int64_t half, int scale) const {
    panel[layout.sub_scales + (2 * block + half) * kPanelCols + col] =
        static_cast<std::byte>(scale);
  }
  /// The column's byte i of a quad of a block.
  std::byte& byte(int64_t block, int64_t quad, int64_t i) const {
    return panel[layout.quants + block * layout.block_quants + quad * kQuadBytes + 4 * col + i];
  }
};

/// 32 unsigned quants; see PanelLayout.
void put_quants(const uint8_t* quants, int bits, int64_t block, const Column& to) {
  const auto low = [&](int64_t k) { return quants[k] & 15; };
  const auto high = [&](int64_t k) { return quants[k] >> 4; };
  for (int64_t k = 0; k < kProductBlock && bits == 8; ++k)
    to.byte(block, k / 4, k % 4) = static_cast<std::byte>(quants[k]);
  for (int64_t k = 0; k < 16 && bits < 8; ++k)
    to.byte(block, k / 4, k % 4) = static_cast<std::byte>(low(k) | low(16 + k) << 4);
  for (int64_t k = 0; k < kProductBlock && bits == 6; ++k) {
    std::byte& bytes = to.byte(block, 4 + k / 16, k % 4);
    if (k % 16 < 4) bytes = std::byte{0};
    bytes |= static_cast<std::byte>(high(k) << (k / 4 % 4 * 2));
  }
}

/// Block `index` of the column.
template <typename Block>
void put_block(const Block& block, int64_t index, const Column& to) {
  constexpr BlockTraits kTraits = Block::kTraits;
  to.put_scale(kTraits.has_minimum ? 2 * index : index, block.scale);
  if constexpr (kTraits.has_minimum) to.put_scale(2 * index + 1, block.minimum);
  for (int64_t begin = 0; begin < Block::kElements; begin += kProductBlock) {
    const int64_t part = (index * Block::kElements + begin) / kProductBlock;
    if constexpr (kTraits.has_sub_scales())
      for (const int64_t half : {0, 1})
        to.put_sub_scale(part, half, block.sub_scale(begin + 16 * half));
    uint8_t quants[kProductBlock];
    for (int64_t k = 0; k < kProductBlock; ++k)
      quants[k] = static_cast<uint8_t>(block.quant(begin + k) + quant_bias(kTraits));
    put_quants(quants, panel_bits(kTraits), part, to);
  }
}

}  // namespace

void pack_block_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to) {
  const int64_t first = panel * kPanelCols, cols = std::min(kPanelCols, weight.rows() - first);
  if (cols < kPanelCols) std::memset(to, 0, static_cast<size_t>(layout.bytes));
  visit_block(weight.dtype(), [&](auto zero) {
    using Block = decltype(zero);
    for (int64_t col = 0; col < cols; ++col) {
      const auto* blocks =
          reinterpret_cast<const Block*>(weight.raw() + (first + col) * weight.row_bytes());
      for (int64_t at = 0; at < weight.cols() / Block::kElements; ++at)
        put_block(blocks[at], at, Column{layout, to, col});
    }
  });
}

}  // namespace heed::kernels::cpu
