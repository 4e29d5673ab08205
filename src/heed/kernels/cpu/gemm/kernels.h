#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/matmul.h"

namespace heed::kernels::cpu {

/// A factor in memory. `stride` is the distance in elements of the stored rows, which are the
/// factor's columns if it is transposed.
struct MatrixView {
  const std::byte* data;
  DType dtype;
  int64_t rows, cols;
  int64_t stride;
  bool transposed;

  explicit MatrixView(const Factor& factor);
  /// Plain f32.
  MatrixView(const std::byte* numbers, int64_t n_rows, int64_t n_cols)
      : data(numbers),
        dtype(DType::f32),
        rows(n_rows),
        cols(n_cols),
        stride(n_cols),
        transposed(false) {}

  const std::byte* at(int64_t row, int64_t col) const {
    return data + (transposed ? col * stride + row : row * stride + col) * size_of(dtype);
  }
};

/// A part of the left factor: rows [row, row + rows), columns [k, k + depth).
struct RowBlock {
  int64_t row, rows, k, depth;
};

/// A part of the right factor: [k, k + depth) of the `panels` panels from column `col` on.
struct PanelBlock {
  int64_t col, panels, k, depth;
};

/// A RowBlock in the layout that a micro-kernel reads: row-major, rows `row_bytes` apart; or
/// column-major groups of MicroKernel::rows rows.
struct PackedRows {
  const std::byte* data;
  int64_t row_bytes;
  bool column_major;
};

/// What a micro-kernel computes in one call: c = start + a b for at most MicroKernel::rows rows of
/// a [rows, depth] and `panels` panels of b [depth, MicroKernel::cols]. For a panel, start and c
/// are [rows, MicroKernel::cols]: rows are `stride` elements apart, panels `panel_stride`.
struct Strip {
  PackedRows a;
  int64_t rows, depth;

  const std::byte* panel;
  int64_t panel_bytes;  // from panel to panel
  int64_t panels;
  int64_t cols;  // of c; what is computed beyond them in the last panel is not read

  const float* start;                    // null: zeros
  const bfloat16* bf16_start = nullptr;  // instead of start, if MicroKernel::starts_from_bf16
  int64_t start_stride, start_panel_stride;

  std::byte* c;
  DType c_type;
  int64_t c_stride, c_panel_stride;
};

/// The arithmetic of a product for one instruction set, and the layouts it reads. A panel of b is
/// `cols` columns over all of K, k outermost; K is padded with zeros to a multiple of
/// `depth_multiple`, and N to a multiple of `cols`.
struct MicroKernel {
  const char* name;
  Instructions needs;
  DType panel_type;          // f32: factors are f32 or bf16; bf16: factors are bf16
  int64_t element_bytes;     // of a panel
  int64_t rows, cols;        // of the sums kept in registers
  int64_t depth;             // of K in one pass over c; a multiple of depth_multiple
  int64_t transposed_depth;  // the same for a transposed a, which costs more to pack
  int64_t depth_multiple;
  int64_t max_packed_rows;  // per call of pack_rows
  double operations_per_microsecond;

  /// The most bytes that pack_rows writes for `rows` rows.
  int64_t (*packed_rows_bytes)(int64_t rows);
  /// Copies the block to `buffer` unless it can be read where it is.
  PackedRows (*pack_rows)(const MatrixView& a, RowBlock block, std::byte* buffer);
  /// Packs a block into panels that begin `panel_bytes` apart.
  void (*pack_panels)(const MatrixView& b, const PanelBlock& block, std::byte* to,
                      int64_t panel_bytes);
  /// For kernels whose panels are larger than f32: a PackedMatrix stores f32 panels [K, cols],
  /// padded with zeros, from which each product packs panels. Writes the one from column `col` on.
  /// Null: a PackedMatrix stores panels.
  void (*pack_f32_panel)(const MatrixView& b, int64_t col, std::byte* to) = nullptr;
  void (*multiply)(const Strip& strip);
  bool starts_from_bf16 = false;
  /// The same for an f32 panel [depth, cols]: products of few rows do not pay for packing.
  void (*multiply_f32_panels)(const Strip& strip) = nullptr;
  /// Called by a thread after its last multiply; may be null.
  void (*finish)() = nullptr;

  int64_t panel_bytes(int64_t k) const {
    return round_up(k, depth_multiple) * cols * element_bytes;
  }
  /// Of a panel as a PackedMatrix stores it.
  int64_t stored_panel_bytes(int64_t k) const {
    return pack_f32_panel ? k * cols * size_of(DType::f32) : panel_bytes(k);
  }
};

/// f32 arithmetic with the vectors that Highway dispatches to.
const MicroKernel& f32_kernel();

/// Dot products of bf16 pairs (AVX512_BF16) and bf16 tiles (AMX), defined on x86 only.
extern const MicroKernel avx512_bf16_kernel, amx_kernel;

/// f32 factors with bf16 tiles (AMX), defined on x86 only: each number is the sum of three bf16
/// parts. A product is the sum of six products of parts; the other three are smaller than f32's
/// rounding error (Henry, Tang and Heinecke 2019).
extern const MicroKernel amx_bf16x3_kernel;

/// The micro-kernels that can multiply factors of `dtype` here, the fastest first.
std::vector<const MicroKernel*> kernels_for(DType dtype);

/// The micro-kernel that products of `dtype` use.
const MicroKernel& kernel_for(DType dtype);

}  // namespace heed::kernels::cpu
