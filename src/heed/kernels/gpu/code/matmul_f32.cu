#include "heed/kernels/gpu/code/matmul_tile.h"

// Products of f32. Every sum is one chain of fused multiply-adds in the order of k, whatever the
// tile: so all kernels give the same bits, which are those of the CPU's kernel without AMX.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

struct alignas(16) Float4 {
  float at[4];
};

/// The rows of one factor that a thread multiplies, `count` of them: each `threads`-th where rows
/// run along the depth, else four neighbours of each 4 `threads`.
template <typename Tile, int count, int threads, bool along>
struct ThreadRows {
  static_assert(along || count % 4 == 0);
  int thread;

  HEED_DEVICE int row(int i) const {
    return along ? thread + i * threads : i / 4 * (4 * threads) + thread * 4 + i % 4;
  }

  /// Their elements at 4 k.
  HEED_DEVICE void load(float (&values)[count][4], float* tile, int k) const {
    if constexpr (along) {
      HEED_UNROLL
      for (int i = 0; i < count; ++i) {
        const Float4 of_row = *reinterpret_cast<const Float4*>(Tile::element(tile, row(i), k));
        HEED_UNROLL
        for (int step = 0; step < 4; ++step) values[i][step] = of_row.at[step];
      }
    } else {
      HEED_UNROLL
      for (int step = 0; step < 4; ++step)
        HEED_UNROLL
        for (int i = 0; i < count; i += 4) {
          const Float4 of_k =
              *reinterpret_cast<const Float4*>(Tile::element(tile, k + step, row(i)));
          HEED_UNROLL
          for (int r = 0; r < 4; ++r) values[i + r][step] = of_k.at[r];
        }
    }
  }
  /// Element i at one k.
  HEED_DEVICE float element(float* tile, int i, int k) const {
    return along ? *Tile::element(tile, row(i), k) : *Tile::element(tile, k, row(i));
  }
};

template <MatmulTile tile, bool first_along, bool second_along, bool transposed = false>
HEED_DEVICE void matmul_f32(const MatmulArguments& in) {
  constexpr int kRows = tile.part_rows, kColumns = tile.part_columns;
  constexpr int kLaneRows = tile.lane_rows, kLaneColumns = 32 / kLaneRows;
  constexpr int kThreadRows = tile.rows / kRows, kThreadColumns = tile.columns / kColumns;
  using Ring = TileRing<float, tile, first_along, second_along>;
  const TilePlace place(in, tile);
  const int warp = static_cast<int>(thread_index()) / 32;
  const int lane = static_cast<int>(thread_index()) % 32;
  constexpr int kWarpRows = kThreadRows / kLaneRows;
  const ThreadRows<typename Ring::First, kRows, kThreadRows, first_along> rows{
      warp % kWarpRows * kLaneRows + lane % kLaneRows};
  const ThreadRows<typename Ring::Second, kColumns, kThreadColumns, second_along> columns{
      warp / kWarpRows * kLaneColumns + lane / kLaneRows};

  Ring ring(in, place.row, place.column);
  const Output<transposed> c(in);
  float sums[kRows][kColumns];
  HEED_UNROLL
  for (int i = 0; i < kRows; ++i)
    HEED_UNROLL
    for (int j = 0; j < kColumns; ++j)
      sums[i][j] = c.start(place.row + rows.row(i), place.column + columns.row(j));

  for (int left = in.depth; left > 0; left -= tile.depth) {
    ring.advance();
    ring.fill();
    float *const first = ring.first(), *const second = ring.second();
    if (left >= tile.depth) {

      for (int k = 0; k < tile.depth; k += 4) {
        float a[kRows][4], b[kColumns][4];
        rows.load(a, first, k);
        columns.load(b, second, k);
        HEED_UNROLL
        for (int step = 0; step < 4; ++step)
          HEED_UNROLL
          for (int i = 0; i < kRows; ++i)
            HEED_UNROLL
            for (int j = 0; j < kColumns; ++j)
              sums[i][j] = fmaf(a[i][step], b[j][step], sums[i][j]);
      }
    } else {
      // No zeros are added: they would make a sum of -0 positive.
      for (int k = 0; k < left; ++k)
        HEED_UNROLL
        for (int i = 0; i < kRows; ++i)
          HEED_UNROLL
          for (int j = 0; j < kColumns; ++j)
            sums[i][j] =
                fmaf(rows.element(first, i, k), columns.element(second, j, k), sums[i][j]);
    }
  }
  HEED_UNROLL
  for (int i = 0; i < kRows; ++i)
    HEED_UNROLL
    for (int j = 0; j < kColumns; ++j)
      c.put(place.row + rows.row(i), place.column + columns.row(j), sums[i][j]);
}

}  // namespace

#define HEED_MATMUL_F32(tile)                                    \
  HEED_GPU_KERNEL(matmul_f32_##tile##_nt, MatmulArguments, in) { \
    matmul_f32<kF32Tile##tile, true, true>(in);                  \
  }                                                              \
  HEED_GPU_KERNEL(matmul_f32_##tile##_nn, MatmulArguments, in) { \
    matmul_f32<kF32Tile##tile, true, false>(in);                 \
  }                                                              \
  HEED_GPU_KERNEL(matmul_f32_##tile##_tn, MatmulArguments, in) { \
    matmul_f32<kF32Tile##tile, false, false>(in);                \
  }

HEED_MATMUL_F32(128x128)
HEED_MATMUL_F32(64x64)

HEED_GPU_KERNEL(matmul_f32_few_4, MatmulArguments, in) {
  matmul_f32<kF32Few4, true, true, true>(in);
}
HEED_GPU_KERNEL(matmul_f32_few_16, MatmulArguments, in) {
  matmul_f32<kF32Few16, true, true, true>(in);
}

}  // namespace heed::kernels::gpu
