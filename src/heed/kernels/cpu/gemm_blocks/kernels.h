#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heed/kernels/matmul_blocks.h"

namespace heed::kernels::cpu {

/// Columns of c, which are rows of the weight, that stand side by side in a panel.
inline constexpr int64_t kPanelCols = 16;
/// Bytes of a panel for 4 neighbouring k: those of a column, then those of the next.
inline constexpr int64_t kQuadBytes = 4 * kPanelCols;

/// Where things are in a panel: 16 columns over all of K. First come the scales, then the quants.
/// Scales of a block: f16 [16]; then q4_1's minimums, f16 [16]; q6_K has for each block its scales
/// of 16 elements, i8 [2, 16], behind the f16 [16] of each 256 elements.
/// Quants of a block: q8_0, biased by 128: [8 quads, 16 columns, 4]. q4_0 and q4_1: [4, 16, 4], the
/// lower halves being quads 0 to 3, the upper 4 to 7. q6_K: the lower four bits likewise, then the
/// upper two [2, 16, 4], those of quad i at bit 2 (i % 4) of part i / 4.
struct PanelLayout {
  PanelLayout(DType dtype, int64_t k);

  DType dtype;
  int64_t blocks;        // of 32 elements of K
  int64_t block_quants;  // bytes
  int64_t small_scales;  // of the first of q6_K's scales of 16 elements, in bytes
  int64_t quants;        // of the first quants
  int64_t bytes;         // of a panel, a multiple of 64
};

/// What a weight's quants are larger by in a panel than they are.
constexpr int quant_bias(DType dtype) {
  return dtype == DType::q8_0 ? 128 : dtype == DType::q4_0 ? 8 : dtype == DType::q6_K ? 32 : 0;
}

/// Rows of activations, quantised. `together` of them stand side by side: first those of one block,
/// then those of the next.
struct QuantizedRows {
  int64_t blocks, together;
  int8_t* quants;  // [rows / together, blocks, together, 32]
  float* scales;   // [rows / together, blocks, together]
  float* sums;     // likewise: of 32 quants
  /// Likewise [.., 2]: where dots begin, -bias * the sum of 16 quants; or that of 32 and a zero, if
  /// the weight's are not q6_K.
  int32_t* starts;

  /// From a row on that begins such a group.
  QuantizedRows from(int64_t row) const {
    const int64_t place = row * blocks;
    return {blocks,         together,     quants + place * kProductBlock,
            scales + place, sums + place, starts + 2 * place};
  }
};

/// The unit of work of a kernel: sums [rows, panels * 16], `stride` apart, of at most
/// BlockKernel::rows rows and some panels. Up to a multiple of BlockKernel::row_multiple there are
/// further rows in a, with scales of zero, and room for their sums.
struct BlockStrip {
  QuantizedRows a;
  int64_t rows;
  const PanelLayout& layout;
  const std::byte* panel;
  int64_t panels;
  float* sums;
  int64_t stride;
};

/// Calls multiply.operator()<type, rows>(strip) with the weight's dtype and the strip's rows, of
/// which there are 1 to `most_rows`.
template <int most_rows, typename Multiply>
void by_type_and_rows(const BlockStrip& strip, const Multiply& multiply) {
  visit_stored(strip.layout.dtype, [&](auto stored) {
    constexpr DType type = dtype_of<decltype(stored)>;
    if constexpr (!is_plain(type)) [&]<int... i>(std::integer_sequence<int, i...>) {
        ((strip.rows == i + 1 ? multiply.template operator()<type, i + 1>(strip) : void()), ...);
      }
    (std::make_integer_sequence<int, most_rows>());
  });
}

struct BlockKernel {
  const char* name;
  int64_t least_rows;    // for which it is faster than those after it
  int64_t rows;          // that it is given at most
  int64_t together;      // of them, unless there are fewer
  int64_t row_multiple;  // which together is, too
  bool reads_starts;
  void (*multiply)(const BlockStrip& strip);
};

/// Plain loops, and those for AVX2, without VNNI and with it, for AVX-512 with VNNI and for AMX;
/// all but the first are null where the machine does not have them.
const BlockKernel* plain_block_kernel();
const BlockKernel* avx2_block_kernel();
const BlockKernel* avx_vnni_block_kernel();
const BlockKernel* avx512_vnni_block_kernel();
const BlockKernel* amx_block_kernel();

/// Those that this machine has, the fastest first.
std::vector<const BlockKernel*> block_kernels();

/// Makes matmul_blocks use that kernel alone; null: what is fastest. For tests.
void force_block_kernel(const BlockKernel* kernel);

/// The kernel for a product of so many rows.
const BlockKernel& block_kernel(int64_t rows);

}  // namespace heed::kernels::cpu
