#include "heed/kernels/elementwise.h"

#include "heed/kernels/gpu/code/elementwise.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void add_to(const Tensor& x, Tensor& y) {
  if (y.elements() == 0) return;
  const char* const kernel =
      by_dtype(x.dtype(), by_dtype(y.dtype(), "add_to_f32_f32", "add_to_f32_bf16"),
               by_dtype(y.dtype(), "add_to_bf16_f32", "add_to_bf16_bf16"));
  launch(kernel, shape_of_elements(y.elements(), {x.dtype(), y.dtype()}),
         ElementwiseArguments{memory(x), memory(y), y.elements(), 1.0f});
}

void scale(float factor, Tensor& y) {
  if (y.elements() == 0) return;
  launch(by_dtype(y.dtype(), "scale_f32", "scale_bf16"),
         shape_of_elements(y.elements(), {y.dtype()}),
         ElementwiseArguments{nullptr, memory(y), y.elements(), factor});
}

void convert(const Tensor& x, Tensor& y) {
  if (y.elements() == 0) return;
  const char* const kernel =
      by_dtype(x.dtype(), by_dtype(y.dtype(), "convert_f32_f32", "convert_f32_bf16"),
               by_dtype(y.dtype(), "convert_bf16_f32", "convert_bf16_bf16"));
  launch(kernel, shape_of_elements(y.elements(), {x.dtype(), y.dtype()}),
         ElementwiseArguments{memory(x), memory(y), y.elements(), 1.0f});
}

}  // namespace heed::kernels::gpu
