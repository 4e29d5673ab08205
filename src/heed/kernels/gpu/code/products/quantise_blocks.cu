#include "heed/kernels/gpu/code/products/matmul_blocks.h"
#include "heed/kernels/gpu/code/products/quantised.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// A lane has four elements: eight lanes a unit.
template <typename T>
HEED_DEVICE void quantise_quad(const QuantiseBlocksArguments& in) {
  const int quads = (in.units + Record::kUnits - 1) / Record::kUnits;
  const int64_t warp = (static_cast<int64_t>(block_x()) * block_threads() + thread_index()) / 32;
  if (warp >= static_cast<int64_t>(in.rows) * quads) return;
  const int row = static_cast<int>(warp / quads), quad = static_cast<int>(warp % quads);
  const int lane = static_cast<int>(thread_index() % 32), u = lane / 8, part = lane % 8;
  const int unit = quad * Record::kUnits + u;

  float x[4] = {};
  if (unit < in.units)
    load_four(static_cast<const T*>(in.x) +
                  (static_cast<int64_t>(row) * in.units + unit) * 32 + part * 4,
              x);
  uint32_t largest = largest_magnitude(x);
  HEED_UNROLL for (unsigned mask = 1; mask < 8; mask *= 2) {
    const uint32_t other = shuffle_bits(largest, mask);
    largest = other > largest ? other : largest;
  }
  const QuantScale by = quant_scale(largest);
  int sum = 0;
  const uint32_t word = quants_of(x, by, sum);
  HEED_UNROLL for (unsigned mask = 1; mask < 4; mask *= 2)
    sum += static_cast<int>(shuffle_bits(static_cast<uint32_t>(sum), mask));
  const int other_half = static_cast<int>(shuffle_bits(static_cast<uint32_t>(sum), 4));

  const int group = row / Record::kRows, g = row % Record::kRows, t = g / 2, side = g % 2;
  std::byte* const to =
      in.records + (static_cast<int64_t>(group) * quads + quad) * Record::kBytes;
  reinterpret_cast<uint32_t*>(to)[(u * 32 + 4 * g + part % 4) * 2 + part / 4] = word;
  const auto floats = [&](int offset) { return reinterpret_cast<float*>(to + offset); };
  if (part == 0) {
    floats(Record::kScales)[(t * Record::kUnits + u) * 2 + side] = by.scale;
    floats(Record::kSums)[(t * Record::kUnits + u) * 2 + side] =
        static_cast<float>(sum + other_half);
  }
  if (part % 4 == 0)
    floats(Record::kHalfSums)[((t * Record::kUnits + u) * 2 + part / 4) * 2 + side] =
        static_cast<float>(sum);
}

}  // namespace

HEED_GPU_KERNEL(quantise_blocks_f32, QuantiseBlocksArguments, in) { quantise_quad<float>(in); }
HEED_GPU_KERNEL(quantise_blocks_bf16, QuantiseBlocksArguments, in) { quantise_quad<Bf16>(in); }

}  // namespace heed::kernels::gpu
