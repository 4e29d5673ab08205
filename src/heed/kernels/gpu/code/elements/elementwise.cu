#include "heed/kernels/gpu/code/elements/elementwise.h"

#include "heed/kernels/gpu/code/double_sum.h"
#include "heed/kernels/gpu/code/elements/elements.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename X, typename Y>
HEED_DEVICE void convert_elements(const ElementwiseArguments& in) {
  map_elements(in.count, static_cast<Y*>(in.y), static_cast<const X*>(in.x),
               [](float x, int64_t) { return x; });
}

template <typename X, typename Y>
HEED_DEVICE void add_elements(const ElementwiseArguments& in) {
  map_elements(in.count, static_cast<Y*>(in.y), static_cast<const Y*>(in.y),
               static_cast<const X*>(in.x), [](float y, float x, int64_t) { return y + x; });
}

template <typename Y>
HEED_DEVICE void scale_elements(const ElementwiseArguments& in) {
  map_elements(in.count, static_cast<Y*>(in.y), static_cast<const Y*>(in.y),
               [&](float y, int64_t) { return y * in.factor; });
}

}  // namespace

HEED_GPU_KERNEL(convert_f32_f32, ElementwiseArguments, in) { convert_elements<float, float>(in); }
HEED_GPU_KERNEL(convert_f32_bf16, ElementwiseArguments, in) { convert_elements<float, Bf16>(in); }
HEED_GPU_KERNEL(convert_bf16_f32, ElementwiseArguments, in) { convert_elements<Bf16, float>(in); }
HEED_GPU_KERNEL(convert_bf16_bf16, ElementwiseArguments, in) { convert_elements<Bf16, Bf16>(in); }
HEED_GPU_KERNEL(add_to_f32_f32, ElementwiseArguments, in) { add_elements<float, float>(in); }
HEED_GPU_KERNEL(add_to_f32_bf16, ElementwiseArguments, in) { add_elements<float, Bf16>(in); }
HEED_GPU_KERNEL(add_to_bf16_f32, ElementwiseArguments, in) { add_elements<Bf16, float>(in); }
HEED_GPU_KERNEL(add_to_bf16_bf16, ElementwiseArguments, in) { add_elements<Bf16, Bf16>(in); }
HEED_GPU_KERNEL(scale_f32, ElementwiseArguments, in) { scale_elements<float>(in); }
HEED_GPU_KERNEL(scale_bf16, ElementwiseArguments, in) { scale_elements<Bf16>(in); }

HEED_GPU_KERNEL(sums_of_squares, SumOfSquaresArguments, in) {
  constexpr int n = kVector<float>;
  const SquaresChunk chunk = in.chunks[block_x()];
  double sums[n] = {};
  for (int64_t i = int64_t{thread_index()} * n; i < chunk.count; i += block_threads() * n) {
    float values[n];
    load_vector(chunk.from + i, chunk.count - i, 0.0f, values);
    HEED_UNROLL
    for (int e = 0; e < n; ++e) sums[e] += static_cast<double>(values[e]) * values[e];
  }
  const double sum = sum_block((sums[0] + sums[1]) + (sums[2] + sums[3]), shared_memory<double>());
  if (thread_index() == 0) in.sums[block_x()] = sum;
}

HEED_GPU_KERNEL(sum_of_sums, SumOfSquaresArguments, in) {
  double sum = 0.0;
  for (int64_t i = thread_index(); i < in.count; i += block_threads()) sum += in.sums[i];
  sum = sum_block(sum, shared_memory<double>());
  if (thread_index() == 0) *in.result = sum;
}

}  // namespace heed::kernels::gpu
