#pragma once

// What the 8-bit integer kernels of 64-bit Arm share. The including file includes all other headers
// first, then simd/neon-inl.h and what defines its sums, then this file.
//
// Loops are unrolled by pragmas: GCC leaves them rolled when they are long, and then keeps the sums
// in memory.
#include "heed/kernels/cpu/gemm_int8/kernels.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 4;
constexpr int kVectors = 4;  // of columns, whose sums are in registers

/// Rows times the columns [col, col + kVectors * kLanes) of a panel.
template <typename Sums, int Rows>
void multiply_columns(const Int8Strip& strip, int64_t col) {
  constexpr int kQuads = 4;  // in 16 bytes of a row
  const auto* a = reinterpret_cast<const int8_t*>(strip.a);
  const int8_t* panel = strip.panel.quants() + 4 * col;
  Sums sums[Rows][kVectors];
  for (int64_t k = 0; k < strip.panel.depth; k += 4 * kQuads, panel += kQuads * kInt8QuadBytes) {
    int8x16_t rows[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) rows[r] = load_row(a + r * strip.row_bytes + k);
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      Ints columns[kQuads];
#pragma GCC unroll 8
      for (int q = 0; q < kQuads; ++q)
        columns[q] = load_ints(panel + q * kInt8QuadBytes + 4 * kLanes * i);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sums[r][i].add(columns, rows[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i)
      store_ints(strip.dots + r * kInt8Cols + col + i * kLanes, sums[r][i].total());
}

/// Int8Kernel::multiply.
template <typename Sums>
void multiply(const Int8Strip& strip) {
  with_rows<kRows>(strip.rows, [&](auto rows) {
    for (int64_t col = 0; col < kInt8Cols; col += kVectors * kLanes)
      multiply_columns<Sums, decltype(rows)::value>(strip, col);
  });
}

}  // namespace
}  // namespace heed::kernels::cpu
