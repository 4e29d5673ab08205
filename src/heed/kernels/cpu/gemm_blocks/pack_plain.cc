#include "heed/kernels/cpu/gemm_blocks/pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace heed::kernels::cpu {
namespace {

/// A column of a panel being written.
struct Column {
  const PanelLayout& layout;
  std::byte* panel;
  int64_t col;

  /// The f16 that stands `index`th among those of this column.
  void put_scale(int64_t index, float16 scale) const {
    if (std::isinf(static_cast<float>(scale)))
      scale = float16(std::numeric_limits<float>::quiet_NaN());
    std::memcpy(panel + (index * kPanelCols + col) * 2, &scale, sizeof(scale));
  }
  /// Four bytes of a block: this column's in quad `quad` of its quants.
  void put_quad(int64_t block, int64_t quad, const void* bytes) const {
    std::memcpy(panel + layout.quants + block * layout.block_quants + quad * kQuadBytes + 4 * col,
                bytes, 4);
  }
};

void put_block(const BlockQ8_0& block, int64_t at, const Column& to) {
  to.put_scale(at, block.scale);
  for (int64_t quad = 0; quad < 8; ++quad) {
    uint32_t bytes;
    std::memcpy(&bytes, block.quants.data() + 4 * quad, 4);
    bytes ^= 0x80808080u;  // each byte + 128
    to.put_quad(at, quad, &bytes);
  }
}

void put_block(const BlockQ4_0& block, int64_t at, const Column& to) {
  to.put_scale(at, block.scale);
  for (int64_t quad = 0; quad < 4; ++quad) to.put_quad(at, quad, block.quants.data() + 4 * quad);
}

void put_block(const BlockQ4_1& block, int64_t at, const Column& to) {
  to.put_scale(2 * at, block.scale);
  to.put_scale(2 * at + 1, block.minimum);
  for (int64_t quad = 0; quad < 4; ++quad) to.put_quad(at, quad, block.quants.data() + 4 * quad);
}

/// The 32 quants of six bits of a part of a block (see tensor/blocks.h).
void put_part(const BlockQ6_K& block, size_t part, int64_t at, const Column& to) {
  const uint8_t* low = block.low.data() + part / 4 * 64 + part % 2 * 32;
  const uint8_t* high = block.high.data() + part / 4 * 32;
  const auto four = [&](size_t i) { return low[i] >> (part % 4 / 2 * 4) & 15; };
  const auto two = [&](size_t i) { return high[i] >> (part % 4 * 2) & 3; };
  for (size_t quad = 0; quad < 4; ++quad) {
    uint8_t both[4];
    for (size_t i = 0; i < 4; ++i)
      both[i] = static_cast<uint8_t>(four(4 * quad + i) | four(16 + 4 * quad + i) << 4);
    to.put_quad(at, static_cast<int64_t>(quad), both);
  }
  for (size_t half = 0; half < 2; ++half) {
    uint8_t all[4] = {};
    for (size_t i = 0; i < 16; ++i)
      all[i % 4] = static_cast<uint8_t>(all[i % 4] | two(16 * half + i) << (i / 4 * 2));
    to.put_quad(at, static_cast<int64_t>(4 + half), all);
  }
}

void put_block(const BlockQ6_K& block, int64_t at, const Column& to) {
  to.put_scale(at, block.scale);
  for (size_t part = 0; part < 8; ++part) {
    const int64_t place = 8 * at + static_cast<int64_t>(part);
    std::byte* scales = to.panel + to.layout.small_scales + place * 2 * kPanelCols + to.col;
    scales[0] = static_cast<std::byte>(block.scales[2 * part]);
    scales[kPanelCols] = static_cast<std::byte>(block.scales[2 * part + 1]);
    put_part(block, part, place, to);
  }
}

}  // namespace

void pack_block_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to) {
  const int64_t first = panel * kPanelCols, cols = std::min(kPanelCols, weight.rows() - first);
  if (cols < kPanelCols) std::memset(to, 0, static_cast<size_t>(layout.bytes));
  visit_stored(weight.dtype(), [&](auto stored) {
    using Block = decltype(stored);
    if constexpr (!is_plain(dtype_of<Block>))
      for (int64_t col = 0; col < cols; ++col) {
        const auto* blocks =
            reinterpret_cast<const Block*>(weight.raw() + (first + col) * weight.row_bytes());
        for (int64_t at = 0; at < weight.cols() / Block::kElements; ++at)
          put_block(blocks[at], at, Column{layout, to, col});
      }
  });
}

}  // namespace heed::kernels::cpu
