// Writes blocks of every type into panels: `put_block(const Block*, rows, index, columns)`.
// Included once per instruction set.
#include <array>
#include <cstddef>
#include <cstdint>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/simd-inl.h"

#if defined(HEED_KERNELS_CPU_PUT_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_PUT_BLOCK_INL_H_
#undef HEED_KERNELS_CPU_PUT_BLOCK_INL_H_
#else
#define HEED_KERNELS_CPU_PUT_BLOCK_INL_H_
#endif

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
struct WeightRows {
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
    put_numbers(index, hn::IfThenElse(infinite, hn::Set(d, 0x7e00), scales));
  }
  /// The same for any numbers of 16 bits.
  HWY_INLINE void put_numbers(int64_t index, Vector numbers) const {
    auto* const to = reinterpret_cast<uint16_t*>(panel) + index * kPanelCols + col;
    hn::StoreU(hn::TruncateTo(U16Half(), numbers), U16Half(), to);
  }
  /// Stores four sub-scales of each column (kind 1: sub-minimums), a byte each, from the `first` of
  /// a block of the weight on, which begins at `block`. A block of 32 elements has `parts`.
  HWY_INLINE void put_sub_scales(int64_t block, int64_t parts, int64_t kind, int64_t first,
                                 Vector bytes) const {
    for (int64_t i = first; i < first + 4; ++i, bytes = hn::ShiftRight<8>(bytes)) {
      std::byte* const to = panel + layout.sub_scales +
                            (block + i / parts) * layout.block_sub_scales +
                            (kind * parts + i % parts) * kPanelCols + col;
      hn::StoreU(hn::TruncateTo(U8Quarter(), bytes), U8Quarter(), reinterpret_cast<uint8_t*>(to));
    }
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

/// Bits [shift, shift + bits) of each byte.
template <int bits>
HWY_INLINE Vector bits_of_bytes(Vector bytes, int shift) {
  return hn::And(hn::ShiftRightSame(bytes, shift),
                 hn::Set(U32(), ((1u << bits) - 1) * 0x01010101u));
}

/// Stores `bits` bits of 32 codes, in quads from `first` on: those from bit `shift` on of 32 bytes
/// of each row.
template <int bits>
HWY_INLINE void put_bits(const WeightRows& from, int64_t offset, int shift, int64_t block,
                         int64_t first, const Columns& to) {
  const auto half = [&](int64_t begin) HEED_LANES {
    return quads_of([&](int64_t i) HEED_LANES {
      return bits_of_bytes<bits>(from.bytes(offset + begin, i), shift);
    });
  };
  const Quads halves[] = {half(0), half(16)};
  for (int64_t quad = 0; quad < bits; ++quad) {
    Vector joined = hn::Zero(U32());
    for (int64_t i = quad; i < 8; i += bits)
      joined = hn::Or(joined, hn::ShiftLeftSame(halves[i / 4][static_cast<size_t>(i % 4)],
                                                static_cast<int>(i / bits * bits)));
    to.put_quad(block, first + quad, joined);
  }
}

/// The same for bit i of a word as the high bit of code i.
HWY_INLINE void put_bits_of_word(Vector word, int64_t block, int64_t first, const Columns& to) {
  const U32 d;
  Vector joined = hn::Zero(d);
  for (int quad = 0; quad < 8; ++quad) {
    const Vector four = hn::And(hn::ShiftRightSame(word, 4 * quad), hn::Set(d, 15));
    // The product moves bit i to bit 8 i.
    const Vector spread = hn::And(hn::Mul(four, hn::Set(d, 0x00204081)), hn::Set(d, 0x01010101));
    joined = hn::Or(joined, hn::ShiftLeftSame(spread, quad));
  }
  to.put_quad(block, first, joined);
}

/// Minus each byte.
HWY_INLINE Vector minus_bytes(Vector bytes) {
  const hn::RebindToSigned<U8> d;
  return hn::BitCast(U32(), hn::Neg(hn::BitCast(d, bytes)));
}

/// Each byte - 32.
HWY_INLINE Vector minus_32(Vector bytes) {
  const U8 d;
  return hn::BitCast(U32(), hn::Sub(hn::BitCast(d, bytes), hn::Set(d, 32)));
}

HWY_INLINE void put_block(const BlockQ8_0*, const WeightRows& from, int64_t at, const Columns& to) {
  constexpr int64_t kQuants = offsetof(BlockQ8_0, quants);
  to.put_scales(at, from.quads(0)[0]);
  for (int64_t half = 0; half < 2; ++half)
    to.put_quads(at, 4 * half, quads_of([&](int64_t i) HEED_LANES {
                   const Vector bytes = from.bytes(kQuants + 16 * half, i);
                   return hn::Xor(bytes, hn::Set(U32(), 0x80808080u));  // each byte + 128
                 }));
}

/// A scale and 16 bytes of codes.
template <class Block>
HWY_INLINE void put_small_block(const WeightRows& from, int64_t at, const Columns& to) {
  to.put_scales(at, from.quads(0)[0]);
  to.put_quads(at, 0, from.quads(offsetof(Block, quants)));
}

/// The same with a minimum.
template <class Block>
HWY_INLINE void put_small_block_with_minimum(const WeightRows& from, int64_t at,
                                             const Columns& to) {
  const Vector both = from.quads(0)[0];
  to.put_scales(2 * at, both);
  to.put_scales(2 * at + 1, hn::ShiftRight<16>(both));
  to.put_quads(at, 0, from.quads(offsetof(Block, quants)));
}

HWY_INLINE void put_block(const BlockQ4_0*, const WeightRows& from, int64_t at, const Columns& to) {
  put_small_block<BlockQ4_0>(from, at, to);
}

HWY_INLINE void put_block(const BlockQ4_1*, const WeightRows& from, int64_t at, const Columns& to) {
  put_small_block_with_minimum<BlockQ4_1>(from, at, to);
}

HWY_INLINE void put_block(const BlockQ5_0*, const WeightRows& from, int64_t at, const Columns& to) {
  put_small_block<BlockQ5_0>(from, at, to);
  put_bits_of_word(from.quads(offsetof(BlockQ5_0, high))[0], at, 4, to);
}

HWY_INLINE void put_block(const BlockQ5_1*, const WeightRows& from, int64_t at, const Columns& to) {
  put_small_block_with_minimum<BlockQ5_1>(from, at, to);
  put_bits_of_word(from.quads(offsetof(BlockQ5_1, high))[0], at, 4, to);
}

HWY_INLINE void put_block(const BlockIQ4_NL*, const WeightRows& from, int64_t at,
                          const Columns& to) {
  put_small_block<BlockIQ4_NL>(from, at, to);
}

HWY_INLINE void put_block(const BlockMXFP4*, const WeightRows& from, int64_t at,
                          const Columns& to) {
  const U32 d;
  const Vector exponent = hn::And(from.quads(0)[0], hn::Set(d, 0xff));
  // bf16, 2^(exponent - 128): 2^-128 and 2^-127 are subnormal.
  const Vector normal = hn::ShiftLeft<7>(hn::Sub(exponent, hn::Set(d, 1)));
  const Vector subnormal = hn::ShiftLeft<5>(hn::Add(exponent, hn::Set(d, 1)));
  to.put_numbers(at, hn::IfThenElse(hn::Lt(exponent, hn::Set(d, 2)), subnormal, normal));
  to.put_quads(at, 0, from.quads(offsetof(BlockMXFP4, quants)));
}

constexpr int64_t kUnits = BlockQ4_K::kElements / kProductBlock;

HWY_INLINE void put_block(const BlockQ2_K*, const WeightRows& from, int64_t at, const Columns& to) {
  // The last four of 16 bytes, so that nothing is read beyond a block.
  const Vector both = from.quads(offsetof(BlockQ2_K, scale) - 12)[3];
  to.put_scales(2 * at, both);
  to.put_scales(2 * at + 1, hn::ShiftRight<16>(both));
  const Quads scales = from.quads(offsetof(BlockQ2_K, scales));
  for (int64_t i = 0; i < 4; ++i) {
    const Vector four = scales[static_cast<size_t>(i)];
    to.put_sub_scales(kUnits * at, 2, 0, 4 * i, bits_of_bytes<4>(four, 0));
    to.put_sub_scales(kUnits * at, 2, 1, 4 * i, minus_bytes(bits_of_bytes<4>(four, 4)));
  }
  for (int64_t i = 0; i < kUnits; ++i)
    put_bits<2>(from, static_cast<int64_t>(offsetof(BlockQ2_K, quants)) + i / 4 * 32,
                static_cast<int>(i % 4 * 2), kUnits * at + i, 0, to);
}

HWY_INLINE void put_block(const BlockQ3_K*, const WeightRows& from, int64_t at, const Columns& to) {
  // The last 16 bytes: two that are not needed, the sub-scales, and the scale.
  const Quads end = from.quads(offsetof(BlockQ3_K, scales) - 2);
  to.put_scales(at, hn::ShiftRight<16>(end[3]));
  const auto word = [&](size_t i) HEED_LANES {
    return hn::Or(hn::ShiftRight<16>(end[i]), hn::ShiftLeft<16>(end[i + 1]));
  };
  const Vector low[] = {word(0), word(1)}, high = word(2);
  for (int64_t i = 0; i < 4; ++i) {
    const Vector four = bits_of_bytes<4>(low[i % 2], static_cast<int>(i / 2 * 4));
    const Vector two = bits_of_bytes<2>(high, static_cast<int>(2 * i));
    to.put_sub_scales(kUnits * at, 2, 0, 4 * i, minus_32(hn::Or(four, hn::ShiftLeft<4>(two))));
  }
  for (int64_t i = 0; i < kUnits; ++i) {
    put_bits<2>(from, static_cast<int64_t>(offsetof(BlockQ3_K, quants)) + i / 4 * 32,
                static_cast<int>(i % 4 * 2), kUnits * at + i, 0, to);
    put_bits<1>(from, offsetof(BlockQ3_K, high), static_cast<int>(i), kUnits * at + i, 2, to);
  }
}

/// The scales of a q4_K or q5_K block: its first 16 bytes.
HWY_INLINE void put_six_bit_scales(const WeightRows& from, int64_t at, const Columns& to) {
  const auto [numbers, first, second, third] = from.quads(0);
  to.put_scales(2 * at, numbers);
  to.put_scales(2 * at + 1, hn::ShiftRight<16>(numbers));
  const auto join = [&](int shift, Vector high) HEED_LANES {
    return hn::Or(bits_of_bytes<4>(third, shift), hn::ShiftLeft<4>(bits_of_bytes<2>(high, 6)));
  };
  to.put_sub_scales(kUnits * at, 1, 0, 0, bits_of_bytes<6>(first, 0));
  to.put_sub_scales(kUnits * at, 1, 0, 4, join(0, first));
  to.put_sub_scales(kUnits * at, 1, 1, 0, minus_bytes(bits_of_bytes<6>(second, 0)));
  to.put_sub_scales(kUnits * at, 1, 1, 4, minus_bytes(join(4, second)));
}

HWY_INLINE void put_block(const BlockQ4_K*, const WeightRows& from, int64_t at, const Columns& to) {
  put_six_bit_scales(from, at, to);
  for (int64_t i = 0; i < kUnits; ++i)
    put_bits<4>(from, static_cast<int64_t>(offsetof(BlockQ4_K, quants)) + i / 2 * 32,
                static_cast<int>(i % 2 * 4), kUnits * at + i, 0, to);
}

HWY_INLINE void put_block(const BlockQ5_K*, const WeightRows& from, int64_t at, const Columns& to) {
  put_six_bit_scales(from, at, to);
  for (int64_t i = 0; i < kUnits; ++i) {
    put_bits<4>(from, static_cast<int64_t>(offsetof(BlockQ5_K, quants)) + i / 2 * 32,
                static_cast<int>(i % 2 * 4), kUnits * at + i, 0, to);
    put_bits<1>(from, offsetof(BlockQ5_K, high), static_cast<int>(i), kUnits * at + i, 4, to);
  }
}

HWY_INLINE void put_block(const BlockQ6_K*, const WeightRows& from, int64_t at, const Columns& to) {
  // The last two of 16 bytes, so that nothing is read beyond a block.
  to.put_scales(at, hn::ShiftRight<16>(from.quads(offsetof(BlockQ6_K, scale) - 14)[3]));
  const Quads scales = from.quads(offsetof(BlockQ6_K, scales));
  for (int64_t i = 0; i < 4; ++i)
    to.put_sub_scales(kUnits * at, 2, 0, 4 * i, scales[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < kUnits; ++i) {
    const int64_t half = i / 4, part = i % 4;
    put_bits<4>(from, half * 64 + part % 2 * 32, part < 2 ? 0 : 4, kUnits * at + i, 0, to);
    put_bits<2>(from, static_cast<int64_t>(offsetof(BlockQ6_K, high)) + half * 32,
                static_cast<int>(2 * part), kUnits * at + i, 4, to);
  }
}

HWY_INLINE void put_block(const BlockIQ4_XS*, const WeightRows& from, int64_t at,
                          const Columns& to) {
  const U32 d;
  const Quads begin = from.quads(0);
  to.put_scales(at, begin[0]);
  const Vector high = hn::ShiftRight<16>(begin[0]), low = begin[1];
  for (int64_t i = 0; i < kUnits; i += 4) {
    Vector bytes = hn::Zero(d);
    for (int k = 0; k < 4; ++k) {
      const int unit = static_cast<int>(i) + k;
      const Vector four = hn::And(hn::ShiftRightSame(low, 4 * unit), hn::Set(d, 15));
      const Vector two = hn::And(hn::ShiftRightSame(high, 2 * unit), hn::Set(d, 3));
      bytes = hn::Or(bytes, hn::ShiftLeftSame(hn::Or(four, hn::ShiftLeft<4>(two)), 8 * k));
    }
    to.put_sub_scales(kUnits * at, 1, 0, i, minus_32(bytes));
  }
  for (int64_t i = 0; i < kUnits; ++i)
    to.put_quads(kUnits * at + i, 0,
                 from.quads(static_cast<int64_t>(offsetof(BlockIQ4_XS, quants)) + 16 * i));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
