#pragma once

#include "heed/model/families/family.h"
#include "heed/model/families/rotary_json.h"

namespace heed::model {

/// The stored names of the weights of Llama and of the families derived from it.
StoredWeight llama_weight(const ModelConfig& config, const std::string& name, const Shape& shape);
/// The same with the router and the experts of "mlp".
StoredWeight llama_moe_weight(const ModelConfig& config, const std::string& name,
                              const Shape& shape);
/// A family whose weights have the prefix of Llama's, without a classifier.
Family like_llama(std::string_view type, ModelConfig (*read)(ConfigReader&),
                  nlohmann::json (*write)(const ModelConfig&), StoredTable stored, GgufForm gguf);

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

/// What the GGUF files of Llama and similar families say.
inline constexpr MetadataField kGgufLlama[] = {
    required("embedding_length", "hidden_size", io::GgufType::u32),
    required("attention.head_count", "num_attention_heads", io::GgufType::u32),
    optional("attention.head_count_kv", "num_key_value_heads", io::GgufType::u32),
    optional("attention.key_length", "head_dim", io::GgufType::u32),
    required("feed_forward_length", "intermediate_size", io::GgufType::u32),
    required("attention.layer_norm_rms_epsilon", "rms_norm_eps", io::GgufType::f32),
    required("context_length", "max_position_embeddings", io::GgufType::u32),
    with_default("rope.freq_base", "rope_theta", io::GgufType::f32, 10000)};
/// GgufForm::read beside kGgufLlama. Throws Error when the file has experts.
void read_gguf_llama(const ArchitectureMetadata& metadata, nlohmann::json& config);
/// The same of a mixture of experts.
void read_gguf_llama_moe(const ArchitectureMetadata& metadata, nlohmann::json& config);

}  // namespace heed::model
