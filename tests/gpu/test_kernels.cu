// Kernels that show what the simulated GPU finds: each is there without a fault and with one.
#include "tests/gpu/test_kernels.h"

#include <cstdint>

#include "heed/gpu/code/operations.h"

namespace heed::gpu {
namespace {

enum class Fault {
  none,
  no_barrier,     // before shared memory is used again
  early_read,     // a stage is read before its copy has been waited for
  early_write,    // a stage is filled while it is still being read
  wrong_swizzle,  // rows are read where they were not put
  divergence,     // half of a warp shuffles
  out_of_shared,  // one element beyond
};

template <Fault fault>
HEED_DEVICE void softmax(const SoftmaxArguments& in) {
  float* const shared = shared_memory<float>();
  const unsigned thread = thread_index(), warps = block_threads() / 32;
  const auto columns = static_cast<unsigned>(in.columns);
  const float* x = in.x + static_cast<int64_t>(block_x()) * columns;
  float* y = in.y + static_cast<int64_t>(block_x()) * columns;
  constexpr float kLog2E = 1.44269504f;

  float largest = x[0];
  for (unsigned i = thread; i < columns; i += block_threads()) largest = fmaxf(largest, x[i]);
  for (unsigned mask = 16; mask != 0; mask /= 2) {
    if (fault == Fault::divergence && thread % 32 >= 16) break;
    largest = fmaxf(largest, shuffle_xor(largest, mask));
  }
  if (thread % 32 == 0) shared[fault == Fault::out_of_shared ? 64 + thread : thread / 32] = largest;
  synchronize();
  for (unsigned warp = 0; warp < warps; ++warp) largest = fmaxf(largest, shared[warp]);

  float sum = 0;
  for (unsigned i = thread; i < columns; i += block_threads())
    sum += fast_exp2((x[i] - largest) * kLog2E);
  for (unsigned mask = 16; mask != 0; mask /= 2) sum += shuffle_xor(sum, mask);
  if (fault != Fault::no_barrier) synchronize();
  if (thread % 32 == 0) shared[thread / 32] = sum;
  synchronize();
  sum = 0;
  for (unsigned warp = 0; warp < warps; ++warp) sum += shared[warp];
  for (unsigned i = thread; i < columns; i += block_threads())
    y[i] = fast_exp2((x[i] - largest) * kLog2E) / sum;
}

/// Tiles of kRows x kColumns by 4 warps; a ring of three stages of 32 columns of a and b. Rows of
/// 64 bytes, their chunks of 16 bytes permuted by the row, so that ldmatrix meets no bank twice.
template <int kRows, int kColumns, Fault fault>
HEED_DEVICE void matmul(const MatmulArguments& in) {
  constexpr int kDepth = 32, kStages = 3, kThreads = 128;
  constexpr int kWarpRows = kRows / 2, kWarpColumns = kColumns / 2;
  uint16_t* const shared = shared_memory<uint16_t>();
  const auto thread = static_cast<int>(thread_index());
  const int lane = thread % 32, warp = thread / 32;
  const auto row = static_cast<int64_t>(block_y()) * kRows;
  const auto column = static_cast<int64_t>(block_x()) * kColumns;

  const auto stage_a = [&](int stage) { return shared + stage * (kRows + kColumns) * kDepth; };
  const auto stage_b = [&](int stage) { return stage_a(stage) + kRows * kDepth; };
  const auto at = [](uint16_t* tile, int r, int chunk) {
    return tile + r * kDepth + (chunk ^ (r / 2 % 4)) * 8;
  };
  const auto read_at = [&](uint16_t* tile, int r, int chunk) {
    return fault == Fault::wrong_swizzle ? tile + r * kDepth + (chunk ^ (r % 4)) * 8
                                         : at(tile, r, chunk);
  };
  const auto load = [&](int stage, int k) {
    for (int i = thread; i < kRows * 4; i += kThreads)
      copy_async_16(at(stage_a(stage), i / 4, i % 4), in.a + (row + i / 4) * in.k + k + i % 4 * 8);
    for (int i = thread; i < kColumns * 4; i += kThreads)
      copy_async_16(at(stage_b(stage), i / 4, i % 4),
                    in.b + (column + i / 4) * in.k + k + i % 4 * 8);
  };

  float sums[kWarpRows / 16][kWarpColumns / 8][4] = {};
  const int steps = in.k / kDepth;
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < steps) load(stage, stage * kDepth);
    commit_copies();
  }
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<fault == Fault::early_read ? kStages - 1 : kStages - 2>();
    if (fault != Fault::no_barrier) synchronize();
    const int next = step + kStages - 1;
    if (next < steps) load((fault == Fault::early_write ? step : next) % kStages, next * kDepth);
    commit_copies();
    uint16_t* const a = stage_a(step % kStages) + warp / 2 * kWarpRows * kDepth;
    uint16_t* const b = stage_b(step % kStages) + warp % 2 * kWarpColumns * kDepth;
    for (int k = 0; k < kDepth / 8; k += 2) {
      uint32_t from_a[kWarpRows / 16][4], from_b[kWarpColumns / 16][4];
      for (int i = 0; i < kWarpRows / 16; ++i)
        load_matrices_x4(from_a[i], read_at(a, i * 16 + lane % 16, k + lane / 16));
      for (int j = 0; j < kWarpColumns / 16; ++j)
        load_matrices_x4(from_b[j],
                         read_at(b, j * 16 + lane % 8 + lane / 16 * 8, k + lane / 8 % 2));
      for (int i = 0; i < kWarpRows / 16; ++i)
        for (int j = 0; j < kWarpColumns / 8; ++j) {
          const uint32_t pair[2] = {from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]};
          mma_m16n8k16_bf16(sums[i][j], from_a[i], pair);
        }
    }
  }
  for (int i = 0; i < kWarpRows / 16; ++i)
    for (int j = 0; j < kWarpColumns / 8; ++j)
      for (int half = 0; half < 2; ++half) {
        float* const to = in.c +
                          (row + warp / 2 * kWarpRows + i * 16 + lane / 4 + 8 * half) * in.n +
                          column + warp % 2 * kWarpColumns + j * 8 + lane % 4 * 2;
        to[0] = sums[i][j][2 * half];
        to[1] = sums[i][j][2 * half + 1];
      }
}

}  // namespace

HEED_GPU_KERNEL(softmax_rows, SoftmaxArguments, in) { softmax<Fault::none>(in); }
HEED_GPU_KERNEL(softmax_no_barrier, SoftmaxArguments, in) { softmax<Fault::no_barrier>(in); }
HEED_GPU_KERNEL(softmax_divergence, SoftmaxArguments, in) { softmax<Fault::divergence>(in); }
HEED_GPU_KERNEL(softmax_out_of_shared, SoftmaxArguments, in) { softmax<Fault::out_of_shared>(in); }

HEED_GPU_KERNEL(matmul_64x64, MatmulArguments, in) { matmul<64, 64, Fault::none>(in); }
HEED_GPU_KERNEL(matmul_128x32, MatmulArguments, in) { matmul<128, 32, Fault::none>(in); }
HEED_GPU_KERNEL(matmul_no_barrier, MatmulArguments, in) { matmul<64, 64, Fault::no_barrier>(in); }
HEED_GPU_KERNEL(matmul_early_read, MatmulArguments, in) { matmul<64, 64, Fault::early_read>(in); }
HEED_GPU_KERNEL(matmul_early_write, MatmulArguments, in) { matmul<64, 64, Fault::early_write>(in); }
HEED_GPU_KERNEL(matmul_wrong_swizzle, MatmulArguments, in) {
  matmul<64, 64, Fault::wrong_swizzle>(in);
}

HEED_GPU_KERNEL(product_s8, ProductArguments, in) {
  const unsigned lane = thread_index(), group = lane / 4, four = lane % 4;
  const auto* a = static_cast<const uint32_t*>(in.a);  // rows of 8 words of 4 bytes
  const auto* b = static_cast<const uint32_t*>(in.b);
  auto* c = static_cast<int32_t*>(in.c);
  const uint32_t from_a[4] = {a[group * 8 + four], a[(group + 8) * 8 + four],
                              a[group * 8 + 4 + four], a[(group + 8) * 8 + 4 + four]};
  const uint32_t from_b[2] = {b[group * 8 + four], b[group * 8 + 4 + four]};
  int32_t sums[4];
  for (unsigned i = 0; i < 4; ++i) sums[i] = c[(group + i / 2 * 8) * 8 + four * 2 + i % 2];
  mma_m16n8k32_s8(sums, from_a, from_b);
  for (unsigned i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + four * 2 + i % 2] = sums[i];
}

}  // namespace heed::gpu
