#pragma once

#include "heed/model/families/family.h"
#include "heed/model/families/rotary_json.h"

namespace heed::model {

/// The stored names of the weights of Llama and of the families derived from it.
StoredWeight llama_weight(const ModelConfig& config, const std::string& name, const Shape& shape);
/// The same with the router and the experts of "mlp".
StoredWeight llama_moe_weight(const ModelConfig& config, const std::string& name,
                              const Shape& shape);
/// Tables in older files.
bool llama_redundant(std::string_view name);
/// What the names of all weights but the head's begin with, unless a file has the class without a
/// head.
inline constexpr std::string_view kLlamaPrefix = "model.";

/// Reads what the config.json files of Llama and of the families derived from it have in common.
/// Absent fields have Llama's defaults, but for the rotary base.
ModelConfig read_llama(ConfigReader& json, const RotaryFields& rotary = {});
/// The same with "attention_bias": q, k, v and o have biases or none has.
ModelConfig read_attention_biased_llama(ConfigReader& json, const RotaryFields& rotary = {});
/// The same with "mlp_bias".
ModelConfig read_biased_llama(ConfigReader& json, const RotaryFields& rotary = {});
/// read_llama() with "sliding_window" in all layers.
ModelConfig read_windowed_llama(ConfigReader& json, const RotaryFields& rotary = {});
nlohmann::json write_llama(const ModelConfig& config, std::string_view type,
                           std::string_view architecture);
nlohmann::json write_biased_llama(const ModelConfig& config, std::string_view type,
                                  std::string_view architecture);
nlohmann::json write_windowed_llama(const ModelConfig& config, std::string_view type,
                                    std::string_view architecture);

/// The part of config.json that follows from the GGUF files of Llama and similar families. Throws
/// Error when the file has experts.
nlohmann::json gguf_llama(const ArchitectureMetadata& metadata);
/// The same of a mixture of experts.
nlohmann::json gguf_llama_mixture(const ArchitectureMetadata& metadata);

}  // namespace heed::model
