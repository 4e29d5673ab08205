#include "heed/quantize/quantization.h"

#include "heed/kernels/quantize.h"
#include "heed/kernels/quantize_search.h"
#include "heed/quantize/precision.h"

namespace heed::quantize {
namespace {

/// Whether a block type has less than 8 bits. Then calibration is used, and sensitive weights
/// get more.
constexpr bool has_few_bits(DType dtype) { return !is_plain(dtype) && traits_of(dtype).bits < 8; }

/// Whether a layer is in the first or the last eighth of its stack.
bool is_outer_layer(const WeightPlace& place) {
  const int64_t outer = place.n_layers / 8;
  return place.layer < outer || place.layer >= place.n_layers - outer;
}

/// Whether a parameter tolerates less than 8 bits.
bool takes_few_bits(const Parameter& parameter) {
  switch (parameter.role) {
    case WeightRole::query:
    case WeightRole::output:
    case WeightRole::ff_up:
      return true;
    case WeightRole::ff_down:
      return !is_outer_layer(parameter.place);
    default:
      return false;
  }
}

}  // namespace

DType quantized_dtype(DType wanted, const Parameter& parameter, const Shape& shape, DType stored) {
  const bool sensitive = has_few_bits(wanted) && !takes_few_bits(parameter);
  const DType safe = traits_of(wanted).has_sub_scales() ? DType::q6_K : DType::q8_0;
  return dtype_in(shape, stored, {sensitive ? safe : wanted});
}

Tensor quantized(const Quantization& how, const std::string& parameter, const Tensor& weight,
                 DType dtype) {
  if (weight.dtype() == dtype) return weight;
  Tensor result = Tensor::empty(weight.shape(), dtype);
  const GptqFactors* factors =
      has_few_bits(dtype) ? how.calibration.of(parameter, weight.cols()) : nullptr;
  if (factors && factors->upper.defined() && kernels::searches_scales(traits_of(dtype)))
    quantize_gptq(weight, *factors, result);
  else
    kernels::quantize_weighted(weight, factors ? factors->diagonal : Tensor(), result);
  return result;
}

void quantize(model::Transformer& model, const Quantization& how) {
  for (Parameter& parameter : model.parameters().all()) {
    const Tensor& value = parameter.value;
    parameter.value =
        quantized(how, parameter.name, value,
                  quantized_dtype(how.dtype, parameter, parameter.shape, value.dtype()));
  }
}

}  // namespace heed::quantize
