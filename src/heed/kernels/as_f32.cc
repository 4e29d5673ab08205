#include "heed/kernels/as_f32.h"

#include "heed/kernels/quantize.h"

namespace heed::kernels {

Tensor as_f32(const Tensor& tensor) {
  if (tensor.dtype() == DType::f32) return tensor;
  require(tensor.dtype() != DType::i32, "weights are i32, expected real numbers");
  Tensor wide = Tensor::empty(tensor.shape());
  dequantize(tensor, wide);
  return wide;
}

}  // namespace heed::kernels
