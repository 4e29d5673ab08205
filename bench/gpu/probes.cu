// What probes.cc compares with heed's model of a GPU.
#include "bench/gpu/probes.h"

#include "heed/gpu/code/operations.h"

namespace heed::gpu_bench {

using namespace heed::gpu;

HEED_GPU_KERNEL(probe_chain, ChainArguments, in) {
  const int lane = static_cast<int>(thread_index()), row = lane / 4, column = lane % 4 * 2;
  const uint16_t* const a = in.a + static_cast<int64_t>(block_x()) * 16 * in.k;
  const uint16_t* const b = in.b + static_cast<int64_t>(block_x()) * 8 * in.k;
  const auto pair = [](const uint16_t* at) {
    return static_cast<uint32_t>(at[0]) | static_cast<uint32_t>(at[1]) << 16;
  };
  float d[4] = {0, 0, 0, 0};
  for (int k = column; k < in.k; k += 16) {
    const uint16_t* const upper = a + static_cast<int64_t>(row) * in.k + k;
    const uint16_t* const lower = upper + static_cast<int64_t>(8) * in.k;
    const uint16_t* const right = b + static_cast<int64_t>(row) * in.k + k;
    const uint32_t left[4] = {pair(upper), pair(lower), pair(upper + 8), pair(lower + 8)};
    const uint32_t other[2] = {pair(right), pair(right + 8)};
    mma_m16n8k16_bf16(d, left, other);
  }
  float* const out = in.d + static_cast<int64_t>(block_x()) * 16 * 8;
  out[row * 8 + column] = d[0];
  out[row * 8 + column + 1] = d[1];
  out[(row + 8) * 8 + column] = d[2];
  out[(row + 8) * 8 + column + 1] = d[3];
}

HEED_GPU_KERNEL(probe_exp2, Exp2Arguments, in) {
  const uint32_t i = block_x() * block_threads() + thread_index();
  in.y[i] = fast_exp2(float_of_bits(in.first + i));
}

HEED_GPU_KERNEL(probe_nothing, NothingArguments, in) {
  if (in.nothing != 0) synchronize();
}

}  // namespace heed::gpu_bench
