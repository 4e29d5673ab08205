#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/base/rounding.h"
#include "heed/kernels/matmul.h"

namespace heed::kernels::cpu {

/// A factor as the packing sees it. `stride` elements lie between the rows as they are stored,
/// which are the factor's columns when it is transposed.
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

/// A RowBlock as a micro-kernel reads it: rows `row_bytes` apart with consecutive k beside each
/// other or, by columns, groups of MicroKernel::rows rows in which all rows of a k stand together.
struct PackedRows {
  const std::byte* data;
  int64_t row_bytes;
  bool by_columns;
};

/// The unit of work of a micro-kernel: c = start + a b for at most MicroKernel::rows rows of a
/// [rows, depth] and `panels` panels of b [depth, MicroKernel::cols]. For a panel, start and c are
/// [rows, MicroKernel::cols] with rows `stride` elements apart; the next panel's lie `step`
/// elements further.
struct Strip {
  PackedRows a;
  int64_t rows, depth;

  const std::byte* panel;
  int64_t panel_bytes;  // from panel to panel
  int64_t panels;

  const float* start;  // null: zeros
  int64_t start_stride, start_step;

  std::byte* c;
  DType c_type;
  int64_t c_stride, c_step;
};

/// The arithmetic of a product for one instruction set, and the layouts it reads. A panel of b is
/// `cols` columns over all of K, k outermost; K is filled up with zeros to a multiple of
/// `depth_multiple`, N to one of `cols`.
struct MicroKernel {
  const char* name;
  DType panel_type;       // f32 takes factors of f32 and bf16, bf16 those of bf16
  int64_t element_bytes;  // of a panel
  int64_t rows, cols;     // of the sums kept in registers
  int64_t depth;          // of K in one pass over c; a multiple of depth_multiple
  int64_t turned_depth;   // the same for a transposed a, whose packing costs more
  int64_t depth_multiple;
  int64_t rows_at_once;  // that pack_rows is given
  double operations_per_microsecond;

  /// Bytes that pack_rows may write for a block of `rows` rows.
  int64_t (*packed_rows_bytes)(int64_t rows);
  /// Copies the block to `buffer` unless it can be read where it is.
  PackedRows (*pack_rows)(const MatrixView& a, RowBlock block, std::byte* buffer);
  /// Packs a block; its panels begin `panel_bytes` apart.
  void (*pack_panels)(const MatrixView& b, const PanelBlock& block, std::byte* to,
                      int64_t panel_bytes);
  /// Where panels are larger than what they are made of: writes the columns from `col` on as plain
  /// f32 [K, cols], filled up with zeros. That is what a PackedMatrix keeps then, and what panels
  /// are packed from in each product. Null: a PackedMatrix keeps panels.
  void (*keep_columns)(const MatrixView& b, int64_t col, std::byte* to) = nullptr;
  void (*multiply)(const Strip& strip);
  /// The same of such columns: strip.panel is f32 [depth, cols]. For few rows, beside which panels
  /// would be packed for one use.
  void (*multiply_kept)(const Strip& strip) = nullptr;
  /// Called by a thread after its last multiply; may be null.
  void (*finish)();

  int64_t panel_bytes(int64_t k) const {
    return round_up(k, depth_multiple) * cols * element_bytes;
  }
  /// Of a PackedMatrix, for `cols` columns.
  int64_t kept_bytes(int64_t k) const {
    return keep_columns ? k * cols * size_of(DType::f32) : panel_bytes(k);
  }
};

/// f32 arithmetic with the best vectors that Highway finds (or is told to find in a test).
const MicroKernel& f32_kernel();

/// Dot products of bf16 pairs (AVX512_BF16), and bf16 tiles (AMX); null where the machine or the
/// system does not offer them.
const MicroKernel* avx512_bf16_kernel();
const MicroKernel* amx_kernel();

/// f32 factors by bf16 tiles: each number in three parts, a product made of the six products of
/// parts that f32 can tell from rounding (Henry, Tang and Heinecke 2019); null without AMX.
const MicroKernel* amx_split_kernel();

/// The micro-kernels that can multiply factors of `dtype` here, the fastest first.
std::vector<const MicroKernel*> kernels_for(DType dtype);

/// Makes products of `dtype` use the given micro-kernel instead of the fastest; null: the fastest
/// again. For tests; not to be called while kernels are running.
void force_kernel(DType dtype, const MicroKernel* kernel);

/// The micro-kernel that products of `dtype` use.
const MicroKernel& kernel_for(DType dtype);

}  // namespace heed::kernels::cpu
