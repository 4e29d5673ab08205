#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "heed/model/config.h"
#include "heed/model/families/config_reader.h"

namespace heed::model {

// What the readers and writers of several families' config.json have in common.

/// PyTorch's default for LayerNorm, of the families whose files do not store an epsilon.
constexpr float kLayerNormEpsilon = 1e-5f;

/// An activation by the names that config.json files use. Throws Error on any other name.
kernels::Activation read_activation(ConfigReader& json, const char* key);
/// The same of a name that stands under `key`.
kernels::Activation activation_of(const std::string& name, const char* key,
                                  const std::string& file);

/// A token that may be null or missing (-1). Of a list, the first.
int32_t read_token(ConfigReader& json, const char* key);
/// null for -1.
nlohmann::json token_json(int32_t id);

/// "eos_token_id", a token or a list of them, into `config`; `otherwise` when it is missing or
/// null.
void read_eos(ConfigReader& json, int32_t otherwise, ModelConfig& config);
/// null, a token, or a list.
nlohmann::json eos_json(const ModelConfig& config);

/// pad_token_id, bos_token_id and eos_token_id of a decoder-only model.
void read_decoder_tokens(ConfigReader& json, ModelConfig& config);
void write_decoder_tokens(const ModelConfig& config, nlohmann::json& json);

/// The same of an encoder alone, and decoder_start_token_id. pad_token_id is 0 when missing.
void read_encoder_tokens(ConfigReader& json, ModelConfig& config);
void write_encoder_tokens(const ModelConfig& config, nlohmann::json& json);

/// A dropout rate; 0 when missing.
float read_rate(ConfigReader& json, const char* key);

/// What BART's and Marian's files name alike: the sizes of both stacks, also by their newer names,
/// positions, the rates of dropout but "dropout" itself, whose default differs, and the first
/// token.
void read_both_stacks(ConfigReader& json, ModelConfig& config);

/// The config.json fields that the two families write alike.
nlohmann::json both_stacks_json(const ModelConfig& config, std::string_view type,
                                std::string_view architecture);

/// Windows of the decoder's layers, from "layer_types" (or, where that is missing, `slides(layer)`)
/// and "sliding_window"; none when no layer slides.
std::vector<int64_t> read_windows(ConfigReader& json, int64_t layers,
                                  const std::function<bool(int64_t layer)>& slides);
/// "sliding_window" and "layer_types" into `json`. Throws Error when layers slide differently.
void write_windows(const ModelConfig& config, nlohmann::json& json);

}  // namespace heed::model
