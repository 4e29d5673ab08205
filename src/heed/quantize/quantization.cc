#include "heed/quantize/quantization.h"

#include "heed/kernels/quantize.h"
#include "heed/quantize/precision.h"

namespace heed::quantize {
namespace {

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

constexpr bool of_four_bits(DType dtype) { return dtype == DType::q4_0 || dtype == DType::q4_1; }

}  // namespace

std::set<std::string> spared_parameters(const model::Transformer& model) {
  constexpr int64_t kPart = 8;
  const auto spared = [](const std::string& name, const char* stack, int64_t layers) {
    const std::string prefix = fmt::format("model.{}.layers.", stack);
    if (!name.starts_with(prefix)) return false;
    const int64_t layer = std::stoll(name.substr(prefix.size()));
    const int64_t part = layers / kPart;
    return layer < part || layer >= layers - part;
  };
  std::set<std::string> names;
  for (const Parameter& parameter : model.parameters().all()) {
    const std::string& name = parameter.name;
    if (!has(name, ".fc2.weight") && !has(name, ".down_proj.weight")) continue;
    if (spared(name, "encoder", model.config().encoder_layers) ||
        spared(name, "decoder", model.config().decoder_layers))
      names.insert(name);
  }
  return names;
}

DType quantized_dtype(const Quantization& how, const std::string& parameter, const Shape& shape,
                      DType stored) {
  const bool most = has(parameter, ".layers.") && !has(parameter, ".router.") &&
                    !has(parameter, ".k_proj.") && !has(parameter, ".v_proj.") &&
                    !how.spared.contains(parameter);
  return dtype_in(shape, stored, {of_four_bits(how.dtype) && !most ? DType::q8_0 : how.dtype});
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

}  // namespace heed::quantize
