#pragma once

// Integer products with blocks, a few rows at a time, in vectors of AVX2 or AVX-512. The
// including file includes all other headers first, so that their functions are not compiled for
// these instructions, then enables the instructions and includes simd/avx2-inl.h or
// simd/avx512-inl.h, and then this file. It passes an Arithmetic:
//   template <DType type, int rows> using Block = ...;  derived from PanelBlock
//   template <..> static Floats dots(const Block& block, const int8_t* a, const int32_t* initial);
//     the dot products of the block's columns with 32 quants of a row
#include <algorithm>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"

namespace heed::kernels::cpu {
namespace {

/// 32 elements of as many columns of a panel as a vector has lanes: unsigned quants, scales, and
/// what else the type has. With `high_in_place`, quads 4 to 7 of a type of 4 bits stay in the high
/// halves of bytes, 16 times as large.
template <DType type, bool high_in_place = false>
struct PanelBlock {
  static constexpr BlockTraits kTraits = traits_of(type);

  Ints quads[8];
  Floats scales, minimums;
  Ints sub_scales[2];

  PanelBlock(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col) {
    const std::byte* quants = panel + layout.quants + block * layout.block_quants + 4 * col;
    if constexpr (panel_bits(kTraits) == 8)
      for (int i = 0; i < 8; ++i) quads[i] = load_ints(quants + i * kQuadBytes);
    else
      read_nibbles(quants);
    if constexpr (panel_bits(kTraits) == 6) add_high_bits(quants + 4 * kQuadBytes);
    read_scales(layout, panel, block, col);
  }

 private:
  void read_nibbles(const std::byte* quants) {
    const Ints low = set_bytes(15);
    for (int i = 0; i < 4; ++i) {
      const Ints both = load_ints(quants + i * kQuadBytes);
      quads[i] = bits_and(both, low);
      quads[i + 4] =
          high_in_place ? bits_and(both, set_bytes(0xf0)) : bits_and(shift_right<4>(both), low);
    }
  }

  void add_high_bits(const std::byte* from) {
    const Ints mask = set_bytes(0x30);
    for (int half = 0; half < 2; ++half) {
      const Ints bits = load_ints(from + half * kQuadBytes);
      Ints* to = quads + 4 * half;
      to[0] = insert_bits(to[0], shift_left<4>(bits), mask);
      to[1] = insert_bits(to[1], shift_left<2>(bits), mask);
      to[2] = insert_bits(to[2], bits, mask);
      to[3] = insert_bits(to[3], shift_right<2>(bits), mask);
    }
  }

  void read_scales(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col) {
    constexpr int64_t kParts = kTraits.elements / kProductBlock;
    const std::byte* at = panel + 2 * col;
    if constexpr (kTraits.has_minimum) {
      scales = load_halves(at + 2 * (block / kParts) * kScaleBytes);
      minimums = load_halves(at + (2 * (block / kParts) + 1) * kScaleBytes);
    } else {
      scales = load_halves(at + block / kParts * kScaleBytes);
    }
    if constexpr (kTraits.has_sub_scales()) {
      const std::byte* from = panel + layout.sub_scales + block * 2 * kPanelCols + col;
      sub_scales[0] = load_bytes(from);
      sub_scales[1] = load_bytes(from + kPanelCols);
    }
  }
};

/// The dot products of both halves of 32 elements, joined.
template <DType type, bool high_in_place>
Floats join_halves(const PanelBlock<type, high_in_place>& block, Ints first, Ints second) {
  if constexpr (traits_of(type).has_sub_scales()) {
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
        part = multiply_add(block.minimums, set_floats(a.sums[index]), part);
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
