#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/kernels/matmul.h"

namespace heed::kernels::cpu {

/// A factor as the packing sees it: element (row, col) at data[row * row_stride + col *
/// col_stride].
struct MatrixView {
  const std::byte* data;
  DType dtype;
  int64_t rows, cols;
  int64_t row_stride, col_stride;

  explicit MatrixView(const Factor& factor);
};

/// The innermost part of a product, for one instruction set: how panels of the factors are laid
/// out, and how two panels become a tile of the result. A panel of a holds `mr` rows, one of b
/// holds `nr` columns, over all of K; missing rows and columns are zeros.
struct MatmulKernel {
  const char* name;
  int64_t mr, nr;
  int64_t (*a_panel_bytes)(int64_t k);
  int64_t (*b_panel_bytes)(int64_t k);
  void (*pack_a)(const MatrixView& a, int64_t first_row, std::byte* panel);
  void (*pack_b)(const MatrixView& b, int64_t first_col, std::byte* panel);
  /// c[r * stride + j] (+)= the sum over k, in its order, for r < rows and j < nr.
  void (*multiply)(int64_t k, const std::byte* a, const std::byte* b, float* c, int64_t stride,
                   int64_t rows, bool accumulate);
};

/// f32 arithmetic for the instruction set at hand; takes f32 and bf16 factors.
const MatmulKernel& f32_kernel();

/// Tiles of bf16 (AMX, Intel); null where the machine or the system does not offer them.
const MatmulKernel* amx_kernel();

/// The one that products of factors of `dtype` use.
const MatmulKernel& kernel_for(DType dtype);

/// Writes rows of a finished tile: c = tile + bias, in c's type.
struct TileOutput {
  const float* tile;
  int64_t tile_stride;
  const float* bias;  // null: none
  int64_t rows, cols, c_stride;
};
void finish_tile(const TileOutput& out, float* c);
void finish_tile(const TileOutput& out, bfloat16* c);

}  // namespace heed::kernels::cpu
