#include "heed/quantize.h"

#include "capi/model.h"
#include "capi/sized.h"
#include "heed/c_train.h"

namespace heed::capi {

template <>
heed_quantize_options defaults<heed_quantize_options>() {
  heed_quantize_options options{};
  options.weights = HEED_WEIGHTS_Q8_0;
  return options;
}

/// A result, and its types as C callers count them.
struct StoredQuantization {
  explicit StoredQuantization(QuantizeResult of)
      : result(std::move(of)), types(result.matrices.begin(), result.matrices.end()) {}

  QuantizeResult result;
  std::vector<std::pair<std::string, int64_t>> types;
};

template <>
struct HandleOf<heed_quantize_result> {
  using Object = StoredQuantization;
  static constexpr const char* kName = "result of heed_quantize()";
};

namespace {

QuantizeOptions quantize_options(const heed_quantize_options& from, const HubCall& hub) {
  QuantizeOptions options;
  const std::optional<WeightType> weights = choice(from.weights, WeightType::q4_K, "weights");
  options.weights = weights.value_or(options.weights);
  options.calibration = {text_or_empty(from.calibration_text),
                         text_or_empty(from.calibration_reference)};
  options.held_out = {text_or_empty(from.held_out_text), text_or_empty(from.held_out_reference)};
  options.executor = executor_of(from.executor);
  options.hub = hub.options();
  return options;
}

heed_quantize_facts facts_of(const QuantizeResult& result) {
  heed_quantize_facts facts{};
  facts.bytes_before = result.bytes_before;
  facts.bytes_after = result.bytes_after;
  facts.bits_per_weight_before = result.bits_per_weight_before;
  facts.bits_per_weight_after = result.bits_per_weight_after;
  facts.type_count = result.matrices.size();
  if (!result.quality) return facts;
  facts.measure = string_of(result.quality->measure);
  facts.measured_on = string_of(result.quality->measured_on);
  facts.quality_before = result.quality->before;
  facts.quality_after = result.quality->after;
  facts.quality_after_weights_only = result.quality->after_weights_only;
  return facts;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_quantize_options)

heed_status heed_quantize(const char* source, const char* target,
                          const heed_quantize_options* options, heed_quantize_result** result,
                          heed_error* error) {
  return run(error, [&] {
    if (result) *result = nullptr;
    require_pointer(source, "source");
    require_pointer(target, "target");
    const heed_quantize_options from = read_sized(options);
    const HubCall hub(from.hub);
    const heed::QuantizeOptions how = quantize_options(from, hub);
    auto stored = std::make_shared<StoredQuantization>(
        hub.run([&] { return heed::quantize_model(source, target, how); }));
    if (result) set_handle(result, std::move(stored));
  });
}

heed_status heed_quantize_result_get(heed_quantize_result* result, heed_quantize_facts* facts,
                                     heed_error* error) {
  return run(error, [&] { write_sized(facts, facts_of(object_of(result)->result), "facts"); });
}

heed_status heed_quantize_result_type(heed_quantize_result* result, size_t index, heed_string* type,
                                      int64_t* matrices, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    require_pointer(type, "type");
    require_pointer(matrices, "matrices");
    const auto& [name, count] = element(object->types, index);
    *type = string_of(name);
    *matrices = count;
  });
}

heed_status heed_quantize_result_free(heed_quantize_result* result, heed_error* error) {
  return free_handle(result, error);
}
