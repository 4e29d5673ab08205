#pragma once

// Products of 8-bit integers, a few rows at a time, in vectors of AVX2 or AVX-512. The including
// file includes all other headers first, so that their functions are not compiled for these
// instructions, then enables the instructions and includes simd/avx2-inl.h or simd/avx512-inl.h,
// and then this file. It passes an Arithmetic:
//   static constexpr RowQuants kRowQuants = ...;  bytes or biased
//   static Ints add_products(Ints sums, Ints quad, Ints columns);
//     adds the products of 4 neighbouring k: a quad of a row, in every lane, and columns of a panel
//
// Loops are unrolled by pragmas: GCC leaves them rolled when they are long, and then keeps the sums
// in memory.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"

namespace heed::kernels::cpu {
namespace {

template <typename Arithmetic, int Rows>
void multiply_rows(const Int8Strip& strip) {
  constexpr int kVectors = kInt8Cols / kLanes;
  const auto* a = reinterpret_cast<const int8_t*>(strip.a);
  const int8_t* panel = strip.panel.quants();
  Ints sums[Rows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      sums[r][i] = Arithmetic::kRowQuants == RowQuants::biased
                       ? load_ints(strip.panel.initial() + i * kLanes)
                       : set_ints(0);
  for (int64_t k = 0; k < strip.panel.depth; k += 4, panel += kInt8QuadBytes) {
    // A product of one row is memory-bound.
    if constexpr (Rows == 1 && kLanes == 16)
      prefetch_ahead(reinterpret_cast<const std::byte*>(panel), kInt8QuadBytes);
    Ints columns[kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) columns[i] = load_ints(panel + 4 * kLanes * i);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Ints quad = broadcast_quad(a + r * strip.row_bytes + k);
#pragma GCC unroll 16
      for (int i = 0; i < kVectors; ++i)
        sums[r][i] = Arithmetic::add_products(sums[r][i], quad, columns[i]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      store_ints(strip.dots + r * kInt8Cols + i * kLanes, sums[r][i]);
}

/// Int8Kernel::multiply.
template <typename Arithmetic, int kMaxRows>
void multiply_strip(const Int8Strip& strip) {
  static_assert(kMaxRows <= kMaxInt8Rows);
  with_rows<kMaxRows>(strip.rows,
                      [&](auto rows) { multiply_rows<Arithmetic, decltype(rows)::value>(strip); });
}

}  // namespace
}  // namespace heed::kernels::cpu
