#include "heed/quantize/precision.h"

#include "heed/kernels/as_f32.h"
#include "heed/kernels/quantize.h"

namespace heed::quantize {

DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision) {
  if (shape.rank() < 2) return DType::f32;
  const DType wanted = precision.dtype.value_or(stored);
  return shape[-1] % block_elements(wanted) == 0 ? wanted : DType::bf16;
}

Tensor in_precision(const Tensor& weight, WeightPrecision precision) {
  const DType dtype = dtype_in(weight.shape(), weight.dtype(), precision);
  if (dtype == weight.dtype()) return weight;
  if (dtype == DType::f32) return kernels::as_f32(weight);
  Tensor result = Tensor::empty(weight.shape(), dtype);
  kernels::quantize(weight, result);
  return result;
}

}  // namespace heed::quantize
