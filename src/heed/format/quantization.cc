#include "heed/format/quantization.h"

#include "heed/format/weights.h"
#include "heed/kernels/quantize.h"

namespace heed::format {
namespace {

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

constexpr bool of_four_bits(DType dtype) { return dtype == DType::q4_0 || dtype == DType::q4_1; }

}  // namespace

DType quantized_dtype(DType wanted, const std::string& parameter, const Shape& shape,
                      DType stored) {
  const bool most = has(parameter, ".layers.") && !has(parameter, ".router.") &&
                    !has(parameter, ".k_proj.") && !has(parameter, ".v_proj.");
  return dtype_in(shape, stored, {of_four_bits(wanted) && !most ? DType::q8_0 : wanted});
}

Tensor quantized(const Quantization& how, const std::string& parameter, const Tensor& weight,
                 DType dtype) {
  if (weight.dtype() == dtype) return weight;
  Tensor result = Tensor::empty(weight.shape(), dtype);
  const Feedback* feedback =
      of_four_bits(dtype) ? how.importance.of(parameter, weight.cols()) : nullptr;
  if (feedback && feedback->weights.defined())
    quantize_with_feedback(weight, *feedback, result);
  else
    kernels::quantize(weight, result, feedback ? feedback->importance : Tensor());
  return result;
}

void quantize(model::Transformer& model, const Quantization& how) {
  for (Parameter& parameter : model.parameters().all())
    parameter.value =
        quantized(how, parameter.name, parameter.value,
                  quantized_dtype(how, parameter.name, parameter.shape, parameter.value.dtype()));
}

}  // namespace heed::format
