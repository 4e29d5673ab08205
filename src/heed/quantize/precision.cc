#include "heed/quantize/precision.h"

#include <algorithm>

#include "heed/kernels/as_f32.h"
#include "heed/kernels/quantize.h"

namespace heed::quantize {

namespace {

/// The type with blocks of 32 elements that replaces one of 256: llama.cpp's choice.
DType small_block_type(DType dtype) {
  switch (dtype) {
    case DType::q4_K:
      return DType::q5_0;
    case DType::q5_K:
      return DType::q5_1;
    case DType::q6_K:
      return DType::q8_0;
    default:
      return dtype;
  }
}

}  // namespace

std::vector<std::string> precision_names() {
  std::vector<BlockTraits> types;
  for (const BlockTraits& type : kStoredTypes)
    if (type.dtype != DType::f16 && kernels::is_written(type.dtype)) types.push_back(type);
  std::ranges::stable_sort(types, std::ranges::greater(), [](const BlockTraits& type) {
    return static_cast<double>(type.bytes) / static_cast<double>(type.elements);
  });
  std::vector<std::string> names;
  for (const BlockTraits& type : types) names.emplace_back(type.name);
  return names;
}

DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision) {
  if (shape.rank() < 2) return DType::f32;
  DType wanted = precision.dtype.value_or(stored);
  if (shape[-1] % block_elements(wanted) != 0) wanted = small_block_type(wanted);
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
