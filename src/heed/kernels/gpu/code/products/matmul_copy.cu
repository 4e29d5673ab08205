#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/products/matmul.h"

// Factors whose rows are not of whole chunks of 16 bytes, or run the wrong way, are copied first.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void copy_factor(const MatmulCopyArguments& in) {
  constexpr int kTile = kMatmulCopyTile;
  T* const tile = shared_memory<T>();  // [kTile, kTile + 1]
  const T* const from = static_cast<const T*>(in.from);
  T* const to = static_cast<T*>(in.to);
  const int row = static_cast<int>(block_y()) * kTile, column = static_cast<int>(block_x()) * kTile;
  const int lane = static_cast<int>(thread_index()) % 32;
  const int warp = static_cast<int>(thread_index()) / 32;
  const int warps = static_cast<int>(block_threads()) / 32;
  // Where the tile is in `from`.
  const int first = in.transposed ? column : row, second = in.transposed ? row : column;
  const int rows = in.transposed ? in.columns : in.rows;
  const int columns = in.transposed ? in.rows : in.columns;
  for (int i = warp; i < kTile; i += warps)
    tile[i * (kTile + 1) + lane] = first + i < rows && second + lane < columns
                                       ? from[(first + i) * in.from_stride + second + lane]
                                       : narrow<T>(0.0f);
  synchronize();
  for (int i = warp; i < kTile; i += warps)
    if (row + i < in.rows && column + lane < in.to_stride)
      to[(row + i) * in.to_stride + column + lane] =
          in.transposed ? tile[lane * (kTile + 1) + i] : tile[i * (kTile + 1) + lane];
}

}  // namespace

HEED_GPU_KERNEL(matmul_copy_bf16, MatmulCopyArguments, in) { copy_factor<Bf16>(in); }
HEED_GPU_KERNEL(matmul_copy_f32, MatmulCopyArguments, in) { copy_factor<float>(in); }

}  // namespace heed::kernels::gpu
