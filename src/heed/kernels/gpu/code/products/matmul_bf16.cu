#include "heed/kernels/gpu/code/products/matmul_tile.h"

// Products of bf16 on tensor cores. Every sum is one chain of m16n8k16 over k from the first on,
// whatever the tile: so all kernels give the same bits.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// The operands of a warp's products for 16 k.
template <typename Ring, int rows, int columns, bool first_along, bool second_along>
struct Fragments {
  uint32_t first[rows / 16][4];
  uint32_t second[(columns + 15) / 16][4];

  /// `before`: those of the 16 k before.
  HEED_DEVICE void load(Ring& ring, int row, int column, int k, const Fragments& before) {
    const int lane = static_cast<int>(thread_index()) % 32;
    // Rows of eight 8 x 8 matrices: lanes 0-7 give those of the first, 8-15 of the second, ...
    const int low = lane % 16, high = lane / 16;
    const int even = lane % 8 + lane / 16 * 8, odd = lane / 8 % 2;
    HEED_UNROLL
    for (int i = 0; i < rows / 16; ++i)
      if constexpr (first_along)
        load_matrices_x4(first[i],
                         Ring::First::chunk(ring.first(), row + i * 16 + low, k / 8 + high));
      else
        load_matrices_x4_transposed(
            first[i], Ring::First::chunk(ring.first(), k + even, (row + i * 16) / 8 + odd));
    if constexpr (columns == 8) {
      // All four matrices are of these columns: for 32 k.
      if (k % 32 == 0) {
        load_matrices_x4(second[0],
                         Ring::Second::chunk(ring.second(), column + lane % 8, k / 8 + lane / 8));
      } else {
        second[0][0] = before.second[0][2];
        second[0][1] = before.second[0][3];
      }
    } else {
      HEED_UNROLL
      for (int j = 0; j < columns / 16; ++j)
        if constexpr (second_along)
          load_matrices_x4(second[j],
                           Ring::Second::chunk(ring.second(), column + j * 16 + even, k / 8 + odd));
        else
          load_matrices_x4_transposed(
              second[j], Ring::Second::chunk(ring.second(), k + low, (column + j * 16) / 8 + high));
    }
  }

  HEED_DEVICE void multiply(float (&sums)[rows / 16][columns / 8][4]) const {
    HEED_UNROLL
    for (int i = 0; i < rows / 16; ++i)
      HEED_UNROLL
      for (int j = 0; j < columns / 8; ++j) {
        const uint32_t of_column[2] = {second[j / 2][j % 2 * 2], second[j / 2][j % 2 * 2 + 1]};
        mma_m16n8k16_bf16(sums[i][j], first[i], of_column);
      }
  }
};

/// `transposed`: the kernel computes the transpose of c.
template <MatmulTile tile, bool first_along, bool second_along, bool transposed = false>
HEED_DEVICE void matmul_bf16(const MatmulArguments& in) {
  constexpr int kRows = tile.part_rows, kColumns = tile.part_columns, kSteps = tile.depth / 16;
  static_assert(kSteps % 2 == 0);
  using Ring = TileRing<Bf16, tile, first_along, second_along>;
  using Operands = Fragments<Ring, kRows, kColumns, first_along, second_along>;
  const TilePlace place(in, tile);
  const int warp = static_cast<int>(thread_index()) / 32;
  const int lane = static_cast<int>(thread_index()) % 32;
  const int row = warp / (tile.columns / kColumns) * kRows;
  const int column = warp % (tile.columns / kColumns) * kColumns;
  // Registers 0 and 1 of a lane's sums are neighbours, 2 and 3 are 8 rows below.
  const int c_row = place.row + row + lane / 4, c_column = place.column + column + lane % 4 * 2;

  Ring ring(in, place.row, place.column);
  const Output<transposed> c(in);
  float sums[kRows / 16][kColumns / 8][4] = {};
  if (!c.starts_from_zero()) {
    HEED_UNROLL
    for (int i = 0; i < kRows / 16; ++i)
      HEED_UNROLL
      for (int j = 0; j < kColumns / 8; ++j)
        HEED_UNROLL
        for (int r = 0; r < 4; ++r)
          sums[i][j][r] = c.start(c_row + i * 16 + r / 2 * 8, c_column + j * 8 + r % 2);
  }

  Operands operands[2];
  ring.advance();
  operands[0].load(ring, row, column, 0, operands[1]);
  for (int k = 0; k < in.depth; k += tile.depth) {
    HEED_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      const Operands& now = operands[step % 2];
      if (step == 0) ring.fill();
      if (step == kSteps - 1) ring.advance();
      operands[(step + 1) % 2].load(ring, row, column, (step + 1) % kSteps * 16, now);
      now.multiply(sums);
    }
  }
  HEED_UNROLL
  for (int i = 0; i < kRows / 16; ++i)
    HEED_UNROLL
    for (int j = 0; j < kColumns / 8; ++j)
      HEED_UNROLL
      for (int half = 0; half < 2; ++half)
        c.put_pair(c_row + i * 16 + half * 8, c_column + j * 8, sums[i][j][2 * half],
                   sums[i][j][2 * half + 1]);
}

}  // namespace

#define HEED_MATMUL_BF16(name, tile, ...)                                                     \
  HEED_GPU_KERNEL_OF(tile.threads(), tile.blocks, matmul_bf16_##name, MatmulArguments, in) { \
    matmul_bf16<tile, __VA_ARGS__>(in);                                                       \
  }
// a as it is by a transposed b (n t: a weight), both as they are, and a transposed a.
#define HEED_MATMUL_BF16_TILE(size)                           \
  HEED_MATMUL_BF16(size##_nt, kBf16Tile##size, true, true)   \
  HEED_MATMUL_BF16(size##_nn, kBf16Tile##size, true, false)  \
  HEED_MATMUL_BF16(size##_tn, kBf16Tile##size, false, false)
HEED_MATMUL_BF16_TILE(128x256)
HEED_MATMUL_BF16_TILE(128x128)
HEED_MATMUL_BF16_TILE(64x128)
HEED_MATMUL_BF16_TILE(64x64)

// The weight is the first factor, the few rows of a the second.
HEED_MATMUL_BF16(few_8, kBf16Few8, true, true, true)
HEED_MATMUL_BF16(few_16, kBf16Few16, true, true, true)
HEED_MATMUL_BF16(few_32, kBf16Few32, true, true, true)
HEED_MATMUL_BF16(few_64, kBf16Few64, true, true, true)
HEED_MATMUL_BF16(middle_64, kBf16Middle64, true, true, true)
HEED_MATMUL_BF16(wide_64, kBf16Wide64, true, true, true)
HEED_MATMUL_BF16(narrow_8, kBf16Narrow8, true, true, true)
HEED_MATMUL_BF16(narrow_16, kBf16Narrow16, true, true, true)

}  // namespace heed::kernels::gpu
