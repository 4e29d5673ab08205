// Panels of blocks: 16 bytes each of four columns are turned into four bytes each of those columns,
// four times, as a matrix of 4 x 4 numbers of 32 bits is transposed.
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

/// Four bytes of each column, then the next four, up to 16.
using Quads = std::array<Vector, 4>;

/// 16 bytes at `from` and at every fourth row behind it.
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

/// The rows of a weight that become neighbouring columns of a panel.
struct Rows {
  const uint8_t* first;
  int64_t row_bytes;

  /// 16 bytes, `offset` from the begin of rows i, 4 + i, 8 + i, ..
  HWY_INLINE Vector bytes(int64_t offset, int64_t i) const {
    return hn::BitCast(U32(), every_fourth_row(U8(), first + offset + i * row_bytes, row_bytes));
  }
  HWY_INLINE Quads quads(int64_t offset) const {
    return quads_of([&](int64_t i) HEED_LANES { return bytes(offset, i); });
  }
};

/// Neighbouring columns of a panel being written, the first of which is `col`.
struct Columns {
  const PanelLayout& layout;
  std::byte* panel;
  int64_t col;

  /// The f16 in the lower halves, which stand `index`th among those of their columns.
  HWY_INLINE void put_scales(int64_t index, Vector scales) const {
    const U32 d;
    const auto infinite = hn::Eq(hn::And(scales, hn::Set(d, 0x7fff)), hn::Set(d, 0x7c00));
    const Vector kept = hn::IfThenElse(infinite, hn::Set(d, 0x7e00), scales);  // not a number
    auto* const to = reinterpret_cast<uint16_t*>(panel) + index * kPanelCols + col;
    hn::StoreU(hn::TruncateTo(U16Half(), kept), U16Half(), to);
  }
  /// Quads of a block, from its `first` on.
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

/// Two parts of a q6_K block, whose lower bits are the lower and the upper halves of the same bytes
/// (see tensor/blocks.h).
template <int kPart>
HWY_INLINE void put_lower_bits(const Rows& from, int64_t place, const Columns& to) {
  constexpr int64_t kLow = kPart / 4 * 64 + kPart % 2 * 32;
  const Vector halves = hn::Set(U32(), 0x0f0f0f0fu);
  to.put_quads(place + kPart, 0, quads_of([&](int64_t i) HEED_LANES {
                 const Vector first = from.bytes(kLow, i), second = from.bytes(kLow + 16, i);
                 if constexpr (kPart % 4 < 2)
                   return hn::Or(hn::And(first, halves), hn::ShiftLeft<4>(hn::And(second, halves)));
                 else
                   return hn::Or(hn::And(hn::ShiftRight<4>(first), halves),
                                 hn::AndNot(halves, second));
               }));
}

/// Of each 16 elements the upper two bits, those of four quads in one.
template <int kPart>
HWY_INLINE void put_upper_bits(const Rows& from, int64_t place, const Columns& to) {
  constexpr int64_t kHigh = offsetof(BlockQ6_K, high) + kPart / 4 * 32;
  const Vector two = hn::Set(U32(), 0x03030303u);
  for (int64_t half = 0; half < 2; ++half) {
    const Quads quads = quads_of([&](int64_t i) HEED_LANES {
      const Vector bytes = from.bytes(kHigh + 16 * half, i);
      return hn::And(hn::ShiftRight<kPart % 4 * 2>(bytes), two);
    });
    to.put_quad(place + kPart, 4 + half,
                hn::Or(hn::Or(quads[0], hn::ShiftLeft<2>(quads[1])),
                       hn::Or(hn::ShiftLeft<4>(quads[2]), hn::ShiftLeft<6>(quads[3]))));
  }
}

/// The scales of 16 elements, of which each quad has four.
HWY_INLINE void put_small_scales(const Rows& from, int64_t place, const Columns& to) {
  const Quads quads = from.quads(offsetof(BlockQ6_K, scales));
  auto* scales = reinterpret_cast<uint8_t*>(to.panel + to.layout.small_scales) +
                 place * 2 * kPanelCols + to.col;
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
  // The last two of 16 bytes, so that none is read behind a block.
  to.put_scales(at, hn::ShiftRight<16>(from.quads(offsetof(BlockQ6_K, scale) - 14)[3]));
  put_small_scales(from, kParts * at, to);
  [&]<int... part>(std::integer_sequence<int, part...>) HEED_LANES {
    (put_lower_bits<part>(from, kParts * at, to), ...);
    (put_upper_bits<part>(from, kParts * at, to), ...);
  }
  (std::make_integer_sequence<int, kParts>());
}

template <class Block>
void pack(const Rows& rows, const PanelLayout& layout, std::byte* to) {
  constexpr auto kBlockBytes = static_cast<int64_t>(sizeof(Block));
  const int64_t blocks = rows.row_bytes / kBlockBytes;
  for (int64_t at = 0; at < blocks; ++at)
    for (int64_t col = 0; col < kPanelCols; col += kLanes) {
      // The rows of the next panel follow these: as much of them as is read here.
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
  visit_stored(weight.dtype(), [&](auto stored) {
    using Block = decltype(stored);
    if constexpr (!is_plain(dtype_of<Block>)) pack<Block>(rows, layout, to);
  });
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
