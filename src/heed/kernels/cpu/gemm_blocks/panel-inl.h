#pragma once

// Integer products with blocks, a few rows at a time, in vectors of AVX2 or AVX-512. The
// including file includes all other headers first, so that their functions are not compiled for
// these instructions, then enables the instructions and includes simd/avx2-inl.h or
// simd/avx512-inl.h, and then this file. It passes an Arithmetic:
//   template <DType type, int rows> using Block = ...;  derived from PanelBlock
//   template <..> static Floats dots(const Block& block, const int8_t* a, const int32_t* initial);
//     the dot products of the block's columns with 32 quants of a row
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

/// 32 elements of as many columns of a panel as a vector has lanes: unsigned quants, scales, and
/// what else the type has. With `high_in_place`, quads 4 to 7 of a type of 4 bits stay in the high
/// halves of bytes, 16 times as large.
template <DType type, bool high_in_place = false>
struct PanelBlock {
  static constexpr BlockTraits kTraits = traits_of(type);
  static constexpr CodeParts kParts = code_parts(kTraits);
  static_assert(!high_in_place || (kTraits.bits == 4 && !kTraits.has_codebook()));

  Ints quads[8];
  Floats scales;       // times the sub-scale, if 32 elements share one: exact in 18 bits
  Floats minimums[2];  // likewise; of both halves if these have sub-minimums, else the first
  Ints sub_scales[2];  // of both halves

  PanelBlock(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col) {
    const std::byte* quants = panel + layout.quants + block * layout.block_quants + 4 * col;
    if constexpr (kTraits.bits == 8)
      for (int i = 0; i < 8; ++i) quads[i] = load_ints(quants + i * kQuadBytes);
    else
      each_quad([&](auto i) { quads[i] = low_bits<i>(quants); });
    if constexpr (kParts.high > 0)
      each_quad([&](auto i) { insert_high_bits<i>(quants + kParts.low * kQuadBytes); });
    if constexpr (kTraits.has_codebook())
      for (Ints& quad : quads) quad = look_up(kUnsignedCodebook<type>, quad);
    read_scales(layout, panel, block, col);
  }

 private:
  template <typename Body>
  static void each_quad(const Body& body) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (body(std::integral_constant<int, i>()), ...);
    }
    (std::make_integer_sequence<int, 8>());
  }

  /// x with the bits at position `from` of each byte moved to position `to`.
  template <int from, int to>
  static Ints moved(Ints x) {
    if constexpr (from < to) return shift_left<to - from>(x);
    if constexpr (from > to) return shift_right<from - to>(x);
    return x;
  }

  template <int quad>
  static Ints low_bits(const std::byte* from) {
    constexpr int kBits = kParts.low, kAt = quad / kBits * kBits;
    const Ints all = load_ints(from + quad % kBits * kQuadBytes);
    if constexpr (high_in_place && kAt == 4) return bits_and(all, set_bytes(0xf0));
    return bits_and(moved<kAt, 0>(all), set_bytes((1 << kBits) - 1));
  }

  template <int quad>
  void insert_high_bits(const std::byte* from) {
    constexpr int kBits = kParts.high, kAt = quad / kBits * kBits;
    const Ints all = load_ints(from + quad % kBits * kQuadBytes);
    const Ints mask = set_bytes(((1 << kBits) - 1) << kParts.low);
    quads[quad] = insert_bits(quads[quad], moved<kAt, kParts.low>(all), mask);
  }

  void read_scales(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col) {
    constexpr int64_t kBlocks = kTraits.elements / kProductBlock;
    constexpr int64_t kKinds = kTraits.has_minimum ? 2 : 1;
    const std::byte* at = panel + kKinds * (block / kBlocks) * kScaleBytes + 2 * col;
    scales = type == DType::mxfp4 ? load_bfloat16s(at) : load_halves(at);
    if constexpr (kTraits.has_minimum) minimums[0] = load_halves(at + kScaleBytes);
    if constexpr (kTraits.has_sub_scales())
      read_sub_scales(panel + layout.sub_scales + block * layout.block_sub_scales + col);
  }

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

/// The dot products of both halves of 32 elements, joined.
template <DType type, bool high_in_place>
Floats join_halves(const PanelBlock<type, high_in_place>& block, Ints first, Ints second) {
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
  // For one row that reads the panel once: reading it dominates the time.
  constexpr bool kPrefetches = Rows == 1 && kLanes == kPanelCols;
  const int64_t share = strip.layout.bytes / std::max<int64_t>(1, a.blocks);
  Floats sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = set_floats(0.0f);
  for (int64_t at = 0; at < a.blocks; ++at) {
    if constexpr (kPrefetches) prefetch_ahead(panel + strip.layout.quants + at * share, share);
    const typename Arithmetic::template Block<type, Rows> block(strip.layout, panel, at, col);
    for (int r = 0; r < Rows; ++r) {
      const int64_t index = at * a.interleave + r;
      const Floats dot =
          Arithmetic::dots(block, a.quants + index * kProductBlock, a.initial + 2 * index);
      Floats part = multiply_add(block.scales, dot, set_floats(0.0f));
      if constexpr (traits_of(type).has_minimum)
        part = multiply_add(block.minimums[0], set_floats(a.sums[2 * index]), part);
      if constexpr (traits_of(type).has_minimum && has_halves(traits_of(type)))
        part = multiply_add(block.minimums[1], set_floats(a.sums[2 * index + 1]), part);
      sums[r] = multiply_add(set_floats(a.scales[index]), part, sums[r]);
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
