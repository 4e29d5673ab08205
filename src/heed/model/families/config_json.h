#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "heed/model/config.h"

namespace heed::model {

// What the readers and writers of several families' config.json have in common.

/// PyTorch's default for LayerNorm, of the families whose files do not store an epsilon.
constexpr float kLayerNormEpsilon = 1e-5f;

/// An activation by the names that config.json files use. Throws Error on any other name.
kernels::Activation read_activation(const nlohmann::json& json, const char* key,
                                    const std::string& file);

/// A token that may be null or missing (-1). Of a list, the first.
int32_t read_token(const nlohmann::json& json, const char* key, const std::string& file);
/// null for -1.
nlohmann::json token_json(int32_t id);

/// "eos_token_id", a token or a list of them, into `config`; `otherwise` when it is missing or
/// null.
void read_eos(const nlohmann::json& json, const std::string& file, int32_t otherwise,
              ModelConfig& config);
/// null, a token, or a list.
nlohmann::json eos_json(const ModelConfig& config);

/// A dropout rate; 0 when missing.
float read_rate(const nlohmann::json& json, const char* key, const std::string& file);

/// `json` with those members of `defaults` that it lacks.
nlohmann::json with_defaults(nlohmann::json json, const nlohmann::json& defaults);

/// Rotary base and scaling, from "rope_parameters" or the older "rope_theta" and "rope_scaling";
/// config.max_positions stands in for the original longest sequence when that is missing. Throws
/// Error on an unknown kind of scaling.
void read_rotary(const nlohmann::json& json, const std::string& file, ModelConfig& config);
/// "rope_parameters" and, for older readers, "rope_theta" and "rope_scaling", into `json`.
void write_rotary(const ModelConfig& config, nlohmann::json& json);

/// The rotated columns of each head, a fraction of them rounded down: "partial_rotary_factor" in
/// "rope_parameters" or beside it, or else `otherwise`.
void read_rotary_dim(const nlohmann::json& json, const std::string& file, double otherwise,
                     ModelConfig& config);
/// The fraction that reads back as this number of rotated columns.
double partial_rotary_factor(int64_t rotary_dim, int64_t head_dim);

/// Windows of the decoder's layers, from "layer_types" (or, where that is missing, `slides(layer)`)
/// and "sliding_window"; none when no layer slides.
std::vector<int64_t> read_windows(const nlohmann::json& json, const std::string& file,
                                  int64_t layers, bool (*slides)(const nlohmann::json&, int64_t));
/// "sliding_window" and "layer_types" into `json`. Throws Error when layers slide differently.
void write_windows(const ModelConfig& config, nlohmann::json& json);

/// A name with every `from` that occurs in it replaced, once each and in order.
struct Rename {
  std::string_view from, to;
};
std::string renamed(std::string name, std::initializer_list<Rename> renames);

}  // namespace heed::model
