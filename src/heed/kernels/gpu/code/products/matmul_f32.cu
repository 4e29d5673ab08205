#include "heed/kernels/gpu/code/products/matmul_tile.h"

// Products of f32. Every sum is one chain of fused multiply-adds in the order of k, whatever the
// tile: so all kernels give the same bits, which are those of the CPU's kernel without AMX.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

using FourFloats = Vector<float, 4>;

/// The rows of one factor that a thread multiplies, `count` of them: each `threads`-th where rows
/// run along the depth, else four neighbours of each 4 `threads`.
template <typename Tile, int count, int threads, bool along>
struct ThreadRows {
  static_assert(along || count % 4 == 0);
  int thread;

  HEED_DEVICE int row(int i) const {
    return along ? thread + i * threads : i / 4 * (4 * threads) + thread * 4 + i % 4;
  }

  /// Their elements at `depth` k, a multiple of 4.
  template <int depth>
  HEED_DEVICE void load(float (&values)[count][depth], float* tile, int k) const {
    if constexpr (along) {
      HEED_UNROLL
      for (int step = 0; step < depth; step += 4)
        HEED_UNROLL
        for (int i = 0; i < count; ++i) {
          const FourFloats four =
              *reinterpret_cast<const FourFloats*>(Tile::element(tile, row(i), k + step));
          HEED_UNROLL
          for (int n = 0; n < 4; ++n) values[i][step + n] = four.elements[n];
        }
    } else {
      HEED_UNROLL
      for (int step = 0; step < depth; ++step)
        HEED_UNROLL
        for (int i = 0; i < count; i += 4) {
          const FourFloats four =
              *reinterpret_cast<const FourFloats*>(Tile::element(tile, k + step, row(i)));
          HEED_UNROLL
          for (int n = 0; n < 4; ++n) values[i + n][step] = four.elements[n];
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
  // k that a thread loads into registers at once: more where it has few sums.
  constexpr int kAtOnce = kRows * kColumns < 16 ? 16 : 4;
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
  float sums[kRows][kColumns] = {};
  if (!c.starts_from_zero()) {
    HEED_UNROLL
    for (int i = 0; i < kRows; ++i)
      HEED_UNROLL
      for (int j = 0; j < kColumns; ++j)
        sums[i][j] = c.start(place.row + rows.row(i), place.column + columns.row(j));
  }

  for (int left = in.depth; left > 0; left -= tile.depth) {
    ring.advance();
    ring.fill();
    float *const first = ring.first(), *const second = ring.second();
    if (left >= tile.depth) {

      for (int k = 0; k < tile.depth; k += kAtOnce) {
        float a[kRows][kAtOnce], b[kColumns][kAtOnce];
        rows.load(a, first, k);
        columns.load(b, second, k);
        HEED_UNROLL
        for (int step = 0; step < kAtOnce; ++step)
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

#define HEED_MATMUL_F32(name, tile, ...)                                                     \
  HEED_GPU_KERNEL_OF(tile.threads(), tile.blocks, matmul_f32_##name, MatmulArguments, in) { \
    matmul_f32<tile, __VA_ARGS__>(in);                                                       \
  }
// a as it is by a transposed b (n t: a weight), both as they are, and a transposed a.
#define HEED_MATMUL_F32_TILE(size)                           \
  HEED_MATMUL_F32(size##_nt, kF32Tile##size, true, true)   \
  HEED_MATMUL_F32(size##_nn, kF32Tile##size, true, false)  \
  HEED_MATMUL_F32(size##_tn, kF32Tile##size, false, false)
HEED_MATMUL_F32_TILE(128x128)
HEED_MATMUL_F32_TILE(64x64)

// The weight is the first factor, the few rows of a the second.
HEED_MATMUL_F32(few_4, kF32Few4, true, true, true)
HEED_MATMUL_F32(few_16, kF32Few16, true, true, true)

}  // namespace heed::kernels::gpu
