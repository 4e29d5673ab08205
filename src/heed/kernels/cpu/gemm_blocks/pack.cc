// Packs panels of blocks: 16 bytes of each of four columns become quads, four bytes of each column,
// by transposing a 4 x 4 matrix of 32-bit numbers.
#include "heed/kernels/cpu/gemm_blocks/pack.h"

#include <hwy/cache_control.h>

#include <array>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm_blocks/pack.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

using cpu::kPanelCols;
using cpu::kQuadBytes;
using cpu::PanelLayout;

using U8 = hn::Repartition<uint8_t, U32>;
using U64 = hn::Repartition<uint64_t, U32>;
using U8Quarter = hn::Rebind<uint8_t, U32>;
using Vector = hn::Vec<U32>;

// Columns side by side in a vector.
constexpr int64_t kLanes = HWY_MAX_BYTES / 4;

/// 16 bytes of each column: the first four of all columns, then the next four, ...
using Quads = std::array<Vector, 4>;

/// 16 bytes at `from`, and those of every fourth row after it.
template <class D>
HWY_INLINE hn::Vec<D> every_fourth_row(D d, const uint8_t* from, int64_t row_bytes) {
  if constexpr (hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const uint8_t* upper = from + static_cast<int64_t>(hn::MaxLanes(half)) / 4 * row_bytes;
    return hn::Combine(d, every_fourth_row(half, upper, row_bytes),
                       every_fourth_row(half, from, row_bytes));
  }
}

/// bytes(i) has 16 bytes of columns i, 4 + i, 8 + i, ..
template <class Bytes>
HWY_INLINE Quads quads_of(const Bytes& bytes) {
  const U32 d;
  const U64 pairs;
  const auto pair = [&](Vector a, Vector b) HEED_LANES {
    return std::array{hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
                      hn::BitCast(pairs, hn::InterleaveUpper(d, a, b))};
  };
  const auto first = pair(bytes(0), bytes(1)), second = pair(bytes(2), bytes(3));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, first[0], second[0])),
          hn::BitCast(d, hn::InterleaveUpper(pairs, first[0], second[0])),
          hn::BitCast(d, hn::InterleaveLower(pairs, first[1], second[1])),
          hn::BitCast(d, hn::InterleaveUpper(pairs, first[1], second[1]))};
}

/// Rows of a weight that become neighbouring columns of a panel.
struct Rows {
  const uint8_t* first;
  int64_t row_bytes;

  /// 16 bytes at `offset` of rows i, 4 + i, 8 + i, ..
  HWY_INLINE Vector bytes(int64_t offset, int64_t i) const {
    return hn::BitCast(U32(), every_fourth_row(U8(), first + offset + i * row_bytes, row_bytes));
  }
  HWY_INLINE Quads quads(int64_t offset) const {
    return quads_of([&](int64_t i) HEED_LANES { return bytes(offset, i); });
  }
};

/// Neighbouring columns of a panel being written, from `col` on.
struct Columns {
  const PanelLayout& layout;
  std::byte* panel;
  int64_t col;

  /// Stores the f16 in the low halves of `scales`, with this index among those of their columns.
  /// Infinity becomes NaN.
  HWY_INLINE void put_scales(int64_t index, Vector scales) const {
    const U32 d;
    const auto infinite = hn::Eq(hn::And(scales, hn::Set(d, 0x7fff)), hn::Set(d, 0x7c00));
    const Vector kept = hn::IfThenElse(infinite, hn::Set(d, 0x7e00), scales);
    auto* const to = reinterpret_cast<uint16_t*>(panel) + index * kPanelCols + col;
    hn::StoreU(hn::TruncateTo(U16Half(), kept), U16Half(), to);
  }
  HWY_INLINE void put_quad(int64_t block, int64_t quad, Vector bytes) const {
    std::byte* const to = panel + layout.quants + block * layout.block_quants + quad * kQuadBytes;
    hn::StoreU(bytes, U32(), reinterpret_cast<uint32_t*>(to) + col);
  }
  HWY_INLINE void put_quads(int64_t block, int64_t first, const Quads& quads) const {
    for (size_t i = 0; i < quads.size(); ++i)
      put_quad(block, first + static_cast<int64_t>(i), quads[i]);
  }
};

HWY_INLINE void put_block(const BlockQ8_0*, const Rows& from, int64_t at, const Columns& to) {
  constexpr int64_t kQuants = offsetof(BlockQ8_0, quants);
  to.put_scales(at, from.quads(0)[0]);
  for (int64_t half = 0; half < 2; ++half)
    to.put_quads(at, 4 * half, quads_of([&](int64_t i) HEED_LANES {
                   const Vector bytes = from.bytes(kQuants + 16 * half, i);
                   return hn::Xor(bytes, hn::Set(U32(), 0x80808080u));  // each byte + 128
                 }));
}

HWY_INLINE void put_block(const BlockQ4_0*, const Rows& from, int64_t at, const Columns& to) {
  to.put_scales(at, from.quads(0)[0]);
  to.put_quads(at, 0, from.quads(offsetof(BlockQ4_0, quants)));
}

HWY_INLINE void put_block(const BlockQ4_1*, const Rows& from, int64_t at, const Columns& to) {
  const Vector both = from.quads(0)[0];
  to.put_scales(2 * at, both);
  to.put_scales(2 * at + 1, hn::ShiftRight<16>(both));
  to.put_quads(at, 0, from.quads(offsetof(BlockQ4_1, quants)));
}

/// The low four bits of the 32 quants of a part of a q6_K block (see tensor/blocks.h).
HWY_INLINE void put_low_bits(const Rows& from, int64_t part, int64_t block, const Columns& to) {
  const int64_t low = part / 4 * 64 + part % 2 * 32;
  const int shift = part % 4 < 2 ? 0 : 4;
  const Vector mask = hn::Set(U32(), 0x0f0f0f0fu);
  to.put_quads(block, 0, quads_of([&](int64_t i) HEED_LANES {
                 const Vector first = hn::ShiftRightSame(from.bytes(low, i), shift);
                 const Vector second = hn::ShiftRightSame(from.bytes(low + 16, i), shift);
                 return hn::Or(hn::And(first, mask), hn::ShiftLeft<4>(hn::And(second, mask)));
               }));
}

/// Their high two bits, those of four quads in one.
HWY_INLINE void put_high_bits(const Rows& from, int64_t part, int64_t block, const Columns& to) {
  const int64_t high = static_cast<int64_t>(offsetof(BlockQ6_K, high)) + part / 4 * 32;
  const int shift = static_cast<int>(part % 4 * 2);
  const Vector mask = hn::Set(U32(), 0x03030303u);
  for (int64_t half = 0; half < 2; ++half) {
    const Quads quads = quads_of([&](int64_t i) HEED_LANES {
      return hn::And(hn::ShiftRightSame(from.bytes(high + 16 * half, i), shift), mask);
    });
    to.put_quad(block, 4 + half,
                hn::Or(hn::Or(quads[0], hn::ShiftLeft<2>(quads[1])),
                       hn::Or(hn::ShiftLeft<4>(quads[2]), hn::ShiftLeft<6>(quads[3]))));
  }
}

/// The sub-scales, of which each quad has four.
HWY_INLINE void put_sub_scales(const Rows& from, int64_t block, const Columns& to) {
  const Quads quads = from.quads(offsetof(BlockQ6_K, scales));
  auto* scales =
      reinterpret_cast<uint8_t*>(to.panel + to.layout.sub_scales) + block * 2 * kPanelCols + to.col;
  const auto put = [&](Vector bytes) HEED_LANES {
    hn::StoreU(hn::TruncateTo(U8Quarter(), bytes), U8Quarter(), scales);
    scales += kPanelCols;
  };
  for (const Vector quad : quads) {
    put(quad);
    put(hn::ShiftRight<8>(quad));
    put(hn::ShiftRight<16>(quad));
    put(hn::ShiftRight<24>(quad));
  }
}

HWY_INLINE void put_block(const BlockQ6_K*, const Rows& from, int64_t at, const Columns& to) {
  constexpr int64_t kParts = BlockQ6_K::kElements / kProductBlock;
  // The last two of 16 bytes, so that nothing is read beyond a block.
  to.put_scales(at, hn::ShiftRight<16>(from.quads(offsetof(BlockQ6_K, scale) - 14)[3]));
  put_sub_scales(from, kParts * at, to);
  for (int64_t part = 0; part < kParts; ++part) {
    put_low_bits(from, part, kParts * at + part, to);
    put_high_bits(from, part, kParts * at + part, to);
  }
}

template <class Block>
void pack(const Rows& rows, const PanelLayout& layout, std::byte* to) {
  constexpr auto kBlockBytes = static_cast<int64_t>(sizeof(Block));
  const int64_t blocks = rows.row_bytes / kBlockBytes;
  for (int64_t at = 0; at < blocks; ++at)
    for (int64_t col = 0; col < kPanelCols; col += kLanes) {
      // As much of the next panel's rows, which follow these, as is read here.
      const int64_t ahead = kPanelCols * rows.row_bytes + (at * kPanelCols + col) * kBlockBytes;
      for (int64_t line = 0; line < kLanes * kBlockBytes; line += 64)
        hwy::Prefetch(rows.first + ahead + line);
      const int64_t begin = col * rows.row_bytes + at * kBlockBytes;
      put_block(static_cast<const Block*>(nullptr), Rows{rows.first + begin, rows.row_bytes}, at,
                Columns{layout, to, col});
    }
}

}  // namespace

void pack_whole_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to) {
  const auto* first = reinterpret_cast<const uint8_t*>(weight.raw());
  const Rows rows{first + panel * kPanelCols * weight.row_bytes(), weight.row_bytes()};
  visit_block(weight.dtype(), [&](auto block) { pack<decltype(block)>(rows, layout, to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

using cpu::PanelLayout;

HWY_EXPORT(pack_whole_panel);
void cpu::pack_whole_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                           std::byte* to) {
  HWY_DYNAMIC_DISPATCH(pack_whole_panel)(weight, layout, panel, to);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
