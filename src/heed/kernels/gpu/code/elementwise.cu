#include "heed/kernels/gpu/code/elementwise.h"

#include "heed/kernels/gpu/code/elements.h"

namespace heed::kernels::gpu {
namespace {

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

}  // namespace heed::kernels::gpu
