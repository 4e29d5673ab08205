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
/// next (the layout that VNNI reads).
inline constexpr int64_t kQuadBytes = 4 * kPanelCols;
/// An f16 for each column.
inline constexpr int64_t kScaleBytes = 2 * kPanelCols;

/// By how much kernels raise quants to make them unsigned.
constexpr int quant_bias(const BlockTraits& type) { return -type.lowest; }

/// The parts of a code in a panel: the number of its low bits, and of the others.
struct CodeParts {
  int low, high;
};
constexpr CodeParts code_parts(const BlockTraits& type) {
  const int low = type.bits >= 8 ? 8 : type.bits >= 4 ? 4 : 2;
  return {low, type.bits - low};
}

/// The number of sub-scales of 32 elements.
constexpr int64_t sub_scale_parts(const BlockTraits& type) {
  return type.has_sub_scales() ? kProductBlock / type.sub_scale_elements : 0;
}

/// The layout of a panel: 16 columns over all of K, in blocks of 32 elements. First come the
/// scales, then the codes; bytes between them are zero.
///
/// Scales: for each block of the weight's type f16 [16] (MXFP4: bf16), followed by the minimums,
/// f16 [16], if the type has them; then, if it has sub-scales, for each 32 elements i8
/// [sub_scale_parts(), 16], followed by the sub-minimums, likewise, if it has minimums.
///
/// Codes of 32 elements take as many quads as a code has bits. A code of 8, 4 or 2 bits is stored
/// whole, one of 3, 5 or 6 bits in two parts: the low 2 or 4 bits, then the others. A part of n
/// bits takes n quads: those of quad i of the codes are at bit n * (i / n) of the bytes of quad i %
/// n.
struct PanelLayout {
  PanelLayout(DType dtype, int64_t k);

  DType dtype;
  int64_t blocks;            // of 32 elements of K
  int64_t block_quants;      // bytes of the codes of 32 elements
  int64_t sub_scales;        // offset of the first, in bytes
  int64_t block_sub_scales;  // bytes of the sub-scales and sub-minimums of 32 elements
  int64_t quants;            // offset of the first, in bytes
  int64_t bytes;             // of a panel, a multiple of 64

  int64_t scales_end() const { return sub_scales + blocks * block_sub_scales; }
};

/// Rows of activations, quantised. Groups of `interleave` rows are stored together: for each block
/// of 32 elements first its part of every row, then the next block.
struct QuantizedRows {
  int64_t blocks, interleave;
  int8_t* quants;  // [rows / interleave, blocks, interleave, 32]
  float* scales;   // [rows / interleave, blocks, interleave]
  /// Sums of quants, likewise [.., 2]: of each half of 32 quants if the weight has_halves(), else
  /// of all 32 and a zero.
  float* sums;
  int32_t* initial;  // likewise: the initial values of dot products, -bias * sums

  /// The rows from `row` on, which begins a group.
  QuantizedRows from(int64_t row) const {
    const int64_t index = row * blocks;
    return {blocks,         interleave,       quants + index * kProductBlock,
            scales + index, sums + 2 * index, initial + 2 * index};
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
  bool first;  // this strip is the first to read these panels: they come from memory
};

struct BlockKernel {
  const char* name;
  Instructions needs;
  int64_t min_rows = 0;       // for which it is faster than those after it in block_kernels()
  int64_t max_rows;           // of a strip
  int64_t interleave;         // of a; less if there are fewer rows
  int64_t row_multiple = 1;   // of which interleave is a multiple
  int64_t pass_rows = 128;    // of a in one pass; there are more if they are short
  bool reads_initial = true;  // QuantizedRows::initial
  void (*multiply)(const BlockStrip& strip);
};

/// For AMX, AVX-512 with VNNI, AVX2 with VNNI and AVX2, which are defined on x86 only.
extern const BlockKernel amx_block_kernel, avx512_vnni_block_kernel, avx_vnni_block_kernel,
    avx2_block_kernel;
/// For SDOT and for NEON, defined on 64-bit Arm only.
extern const BlockKernel neon_dot_block_kernel, neon_block_kernel;
/// Plain loops for every machine.
extern const BlockKernel plain_block_kernel;

/// Those that this machine can run, the fastest first.
std::vector<const BlockKernel*> block_kernels();

/// The kernel for a product of `rows` rows.
const BlockKernel& block_kernel(int64_t rows);

}  // namespace heed::kernels::cpu
