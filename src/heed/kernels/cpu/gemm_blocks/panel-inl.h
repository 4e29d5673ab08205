#pragma once

// Integer products with blocks, a few rows at a time, in vectors of NEON, AVX2 or AVX-512. The
// including file includes all other headers first, so that their functions are not compiled for
// these instructions, then enables the instructions and includes simd/neon-inl.h, simd/avx2-inl.h
// or simd/avx512-inl.h, and then this file. It passes an Arithmetic:
//   template <DType type, int rows> using Block = ...;  derived from PanelBlock
//   template <..> static Floats dots(const Block& block, const int8_t* a, const int32_t* initial);
//     the dot products of the block's columns with 32 quants of a row
//
// Loops over rows are unrolled by pragmas: GCC leaves them rolled when they are long, and then
// keeps the rows' sums in memory.
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"

namespace heed::kernels::cpu {
namespace {

/// The quants of a codebook, unsigned.
template <DType type>
inline constexpr std::array<uint8_t, 16> kUnsignedCodebook = [] {
  std::array<uint8_t, 16> quants{};
  for (size_t i = 0; i < quants.size(); ++i)
    quants[i] = static_cast<uint8_t>((*traits_of(type).codebook)[i] + quant_bias(traits_of(type)));
  return quants;
}();

/// Calls body(std::integral_constant<int, i>()) for 0 <= i < count.
template <int count, typename Body>
void each_index(const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (body(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, count>());
}

/// x with the bits at position `from` of each byte moved to position `to`.
template <int from, int to>
Ints moved_bits(Ints x) {
  if constexpr (from < to) return shift_left<to - from>(x);
  if constexpr (from > to) return shift_right<from - to>(x);
  return x;
}

/// Quad i, of 8, of the unsigned quants of 32 elements of as many columns of a panel as a vector
/// has lanes. With `high_in_place`, quads 4 to 7 of a type of 4 bits stay in the high halves of
/// bytes, 16 times as large.
template <DType type, int i, bool high_in_place = false>
Ints load_quad(const std::byte* quants) {
  constexpr BlockTraits kTraits = traits_of(type);
  constexpr CodeParts kParts = code_parts(kTraits);
  static_assert(!high_in_place || (kTraits.bits == 4 && !kTraits.has_codebook()));
  if constexpr (kTraits.bits == 8) return load_ints(quants + i * kQuadBytes);
  constexpr int kAt = i / kParts.low * kParts.low;
  const Ints low = load_ints(quants + i % kParts.low * kQuadBytes);
  if constexpr (high_in_place && kAt == 4) return bits_and(low, set_bytes(0xf0));
  Ints quad = bits_and(moved_bits<kAt, 0>(low), set_bytes((1 << kParts.low) - 1));
  if constexpr (kParts.high > 0) {
    constexpr int kHighAt = i / kParts.high * kParts.high;
    const Ints high = load_ints(quants + (kParts.low + i % kParts.high) * kQuadBytes);
    quad = insert_bits(quad, moved_bits<kHighAt, kParts.low>(high),
                       set_bytes(((1 << kParts.high) - 1) << kParts.low));
  }
  if constexpr (kTraits.has_codebook()) quad = look_up(kUnsignedCodebook<type>, quad);
  return quad;
}

/// What turns dot products of the quants of 32 elements into those of the weight.
template <DType type>
struct PanelScales {
  static constexpr BlockTraits kTraits = traits_of(type);

  Floats scales;       // times the sub-scale, if 32 elements share one: exact in 18 bits
  Floats minimums[2];  // likewise; of both halves if these have sub-minimums, else the first
  Ints sub_scales[2];  // of both halves

  PanelScales(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col) {
    constexpr int64_t kBlocks = kTraits.elements / kProductBlock;
    constexpr int64_t kKinds = kTraits.has_minimum ? 2 : 1;
    const std::byte* at = panel + kKinds * (block / kBlocks) * kScaleBytes + 2 * col;
    scales = type == DType::mxfp4 ? load_bfloat16s(at) : load_halves(at);
    if constexpr (kTraits.has_minimum) minimums[0] = load_halves(at + kScaleBytes);
    if constexpr (kTraits.has_sub_scales())
      read_sub_scales(panel + layout.sub_scales + block * layout.block_sub_scales + col);
  }

  /// Adds the part of 32 elements to the sums of a row, whose scales are those at `index`.
  Floats add_part(Floats sums, Floats dots, const QuantizedRows& a, int64_t index) const {
    Floats part = multiply_add(scales, dots, set_floats(0.0f));
    if constexpr (kTraits.has_minimum)
      part = multiply_add(minimums[0], set_floats(a.sums[2 * index]), part);
    if constexpr (kTraits.has_minimum && has_halves(kTraits))
      part = multiply_add(minimums[1], set_floats(a.sums[2 * index + 1]), part);
    return multiply_add(set_floats(a.scales[index]), part, sums);
  }

 private:
  void read_sub_scales(const std::byte* from) {
    constexpr bool kHalves = has_halves(kTraits);
    if constexpr (kHalves)
      for (int half = 0; half < 2; ++half) sub_scales[half] = load_bytes(from + half * kPanelCols);
    else
      scales = multiply(scales, to_floats(load_bytes(from)));
    if constexpr (kTraits.has_minimum) {
      const std::byte* own = from + sub_scale_parts(kTraits) * kPanelCols;
      const Floats shared = minimums[0];
      for (int part = 0; part < (kHalves ? 2 : 1); ++part)
        minimums[part] = multiply(shared, to_floats(load_bytes(own + part * kPanelCols)));
    }
  }
};

/// 32 elements of as many columns of a panel as a vector has lanes.
template <DType type, bool high_in_place = false>
struct PanelBlock : PanelScales<type> {
  Ints quads[8];

  PanelBlock(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col)
      : PanelScales<type>(layout, panel, block, col) {
    const std::byte* quants = panel + layout.quants + block * layout.block_quants + 4 * col;
    each_index<8>([&](auto i) { quads[i] = load_quad<type, i, high_in_place>(quants); });
  }
};

/// The dot products of both halves of 32 elements, joined.
template <DType type>
Floats join_halves(const PanelScales<type>& block, Ints first, Ints second) {
  if constexpr (has_halves(traits_of(type))) {
    first = multiply(first, block.sub_scales[0]);
    second = multiply(second, block.sub_scales[1]);
  }
  return to_floats(add(first, second));
}

/// One vector of columns from `col` on.
template <typename Arithmetic, DType type, int Rows>
void multiply_columns(const BlockStrip& strip, const std::byte* panel, int64_t col, float* to) {
  const QuantizedRows& a = strip.a;
  // Where a panel is read in parts, each reads a part of the next panel ahead: if the first part
  // did it alone, memory would be idle afterwards.
  const std::byte* next = panel + strip.layout.bytes + strip.layout.bytes / kPanelCols * col;
  const int64_t share = strip.layout.bytes / kPanelCols * kLanes / std::max<int64_t>(1, a.blocks);
  Floats sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = set_floats(0.0f);
  for (int64_t at = 0; at < a.blocks; ++at) {
    if constexpr (kLanes == kPanelCols) {
      if (Rows == 1 || strip.first) prefetch_ahead(panel + strip.layout.quants + at * share, share);
    } else if (strip.first) {
      prefetch_to_level2(next + at * share, share);
    }
    const typename Arithmetic::template Block<type, Rows> block(strip.layout, panel, at, col);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const int64_t index = at * a.interleave + r;
      const Floats dots =
          Arithmetic::dots(block, a.quants + index * kProductBlock, a.initial + 2 * index);
      sums[r] = block.add_part(sums[r], dots, a, index);
    }
  }
  for (int r = 0; r < Rows; ++r) store_floats(to + r * strip.stride, sums[r]);
}

template <typename Arithmetic, DType type, int Rows>
void multiply_rows(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i)
    for (int64_t col = 0; col < kPanelCols; col += kLanes)
      multiply_columns<Arithmetic, type, Rows>(strip, strip.panel + i * strip.layout.bytes, col,
                                               strip.sums + i * kPanelCols + col);
}

/// BlockKernel::multiply.
template <typename Arithmetic, int kMaxRows>
void multiply_strip(const BlockStrip& strip) {
  visit_block(strip.layout.dtype, [&](auto block) {
    with_rows<kMaxRows>(strip.rows, [&](auto rows) {
      multiply_rows<Arithmetic, dtype_of<decltype(block)>, decltype(rows)::value>(strip);
    });
  });
}

}  // namespace
}  // namespace heed::kernels::cpu
