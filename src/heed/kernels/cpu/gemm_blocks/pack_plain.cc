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

  /// The number of 16 bits with this index among those of the column; infinity becomes NaN.
  template <typename Number>
  void put_scale(int64_t index, Number scale) const {
    if (std::isinf(static_cast<float>(scale)))
      scale = Number(std::numeric_limits<float>::quiet_NaN());
    std::memcpy(panel + index * kScaleBytes + 2 * col, &scale, sizeof(scale));
  }
  /// A sub-scale or sub-minimum of a block of 32 elements.
  void put_sub_scale(int64_t block, int64_t index, int scale) const {
    panel[layout.sub_scales + block * layout.block_sub_scales + index * kPanelCols + col] =
        static_cast<std::byte>(scale);
  }
  /// The column's byte i of a quad of a block.
  std::byte& byte(int64_t block, int64_t quad, int64_t i) const {
    return panel[layout.quants + block * layout.block_quants + quad * kQuadBytes + 4 * col + i];
  }
};

/// Bits [begin, begin + count) of 32 codes, in quads from `begin` on; see PanelLayout.
void put_part(const uint8_t* codes, int begin, int count, int64_t block, const Column& to) {
  for (int64_t k = 0; k < kProductBlock; ++k) {
    const int64_t quad = k / 4;
    const int bits = codes[k] >> begin & ((1 << count) - 1);
    std::byte& byte = to.byte(block, begin + quad % count, k % 4);
    if (quad < count) byte = std::byte{0};
    byte |= static_cast<std::byte>(bits << (quad / count * count));
  }
}

/// The scales of block `index` of the column.
template <typename Block>
void put_scales(const Block& block, int64_t index, const Column& to) {
  constexpr BlockTraits kTraits = Block::kTraits;
  constexpr int64_t kKinds = kTraits.has_minimum ? 2 : 1;
  if constexpr (kTraits.dtype == DType::mxfp4)
    to.put_scale(index, bfloat16(scale_of(block)));  // exact
  else
    to.put_scale(kKinds * index, block.scale);
  if constexpr (kTraits.has_minimum) to.put_scale(kKinds * index + 1, block.minimum);
  if constexpr (kTraits.has_sub_scales()) {
    constexpr int64_t kShare = kTraits.sub_scale_elements, kParts = sub_scale_parts(kTraits);
    for (int64_t begin = 0; begin < Block::kElements; begin += kShare) {
      const int64_t at = (index * Block::kElements + begin) / kProductBlock;
      const int64_t part = begin / kShare % kParts;
      to.put_sub_scale(at, part, block.sub_scale(begin));
      if constexpr (kTraits.has_minimum)
        to.put_sub_scale(at, kParts + part, block.sub_minimum(begin));
    }
  }
}

/// Block `index` of the column.
template <typename Block>
void put_block(const Block& block, int64_t index, const Column& to) {
  put_scales(block, index, to);
  for (int64_t begin = 0; begin < Block::kElements; begin += kProductBlock) {
    uint8_t codes[kProductBlock];
    for (int64_t k = 0; k < kProductBlock; ++k)
      codes[k] = static_cast<uint8_t>(block.code(begin + k));
    const int64_t at = (index * Block::kElements + begin) / kProductBlock;
    constexpr CodeParts kParts = code_parts(Block::kTraits);
    put_part(codes, 0, kParts.low, at, to);
    if constexpr (kParts.high > 0) put_part(codes, kParts.low, kParts.high, at, to);
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
