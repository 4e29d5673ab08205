#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/with_rows.h"
#include "heed/kernels/matmul_blocks.h"

namespace heed::kernels::cpu {

/// Columns of c, which are rows of the weight, side by side in a panel.
inline constexpr int64_t kPanelCols = 16;
/// A quad is 4 neighbouring k of all columns of a panel: 4 bytes of a column, then those of the
/// next.
inline constexpr int64_t kQuadBytes = 4 * kPanelCols;
/// An f16 for each column.
inline constexpr int64_t kScaleBytes = 2 * kPanelCols;

/// Bits that a quant takes in a panel.
constexpr int panel_bits(const BlockTraits& type) {
  return type.bits <= 4 ? 4 : type.bits <= 6 ? 6 : 8;
}
/// By how much quants are larger in a panel, where they are unsigned.
constexpr int quant_bias(const BlockTraits& type) { return -type.lowest; }

/// The layout of a panel: 16 columns over all of K, in blocks of 32 elements. First come the
/// scales, then the quants.
///
/// Scales: for each block of the weight's type f16 [16], followed by the minimums, f16 [16], if the
/// type has them; then, if it has sub-scales, for each 32 elements i8 [2, 16].
///
/// Quants of 32 elements, by the bits of a quant:
/// 8: 8 quads.
/// 4: 4 quads of bytes; the low halves are quads 0 to 3, the high halves 4 to 7.
/// 6: the low four bits likewise, then the high two bits, [2, 16, 4]: those of quad i are at bit
///    2 (i % 4) of the bytes of part i / 4.
struct PanelLayout {
  PanelLayout(DType dtype, int64_t k);

  DType dtype;
  int64_t blocks;        // of 32 elements of K
  int64_t block_quants;  // bytes of the quants of 32 elements
  int64_t sub_scales;    // offset of the first, in bytes
  int64_t quants;        // offset of the first, in bytes
  int64_t bytes;         // of a panel, a multiple of 64
};

/// Rows of activations, quantised. Groups of `interleave` rows are stored together: for each block
/// of 32 elements first its part of every row, then the next block.
struct QuantizedRows {
  int64_t blocks, interleave;
  int8_t* quants;  // [rows / interleave, blocks, interleave, 32]
  float* scales;   // [rows / interleave, blocks, interleave]
  float* sums;     // likewise: of 32 quants
  /// Likewise [.., 2]: the initial values of dot products, -bias * the sum of 16 quants; or, where
  /// the weight has no sub-scales, that of 32 and a zero.
  int32_t* initial;

  /// From a row on that begins a group.
  QuantizedRows from(int64_t row) const {
    const int64_t index = row * blocks;
    return {blocks,         interleave,   quants + index * kProductBlock,
            scales + index, sums + index, initial + 2 * index};
  }
};

/// What a kernel computes in one call: sums [rows, panels * 16], `stride` apart, of at most
/// BlockKernel::max_rows rows and some panels. Up to a multiple of BlockKernel::row_multiple, a has
/// further rows with scales of zero, and there is room for their sums.
struct BlockStrip {
  QuantizedRows a;
  int64_t rows;
  const PanelLayout& layout;
  const std::byte* panel;
  int64_t panels;
  float* sums;
  int64_t stride;
};

struct BlockKernel {
  const char* name;
  Instructions needs;
  int64_t min_rows;      // for which it is faster than those after it in block_kernels()
  int64_t max_rows;      // of a strip
  int64_t interleave;    // of a; less if there are fewer rows
  int64_t row_multiple;  // of which interleave is a multiple
  bool reads_initial;    // QuantizedRows::initial
  void (*multiply)(const BlockStrip& strip);
};

/// For AMX, AVX-512 with VNNI, AVX2 with VNNI and AVX2, which are defined on x86 only, and plain
/// loops for every machine.
extern const BlockKernel amx_block_kernel, avx512_vnni_block_kernel, avx_vnni_block_kernel,
    avx2_block_kernel, plain_block_kernel;

/// Those that this machine can run, the fastest first.
std::vector<const BlockKernel*> block_kernels();

/// The kernel for a product of `rows` rows.
const BlockKernel& block_kernel(int64_t rows);

}  // namespace heed::kernels::cpu
