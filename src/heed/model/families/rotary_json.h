#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/model/config.h"
#include "heed/model/families/config_reader.h"

namespace heed::model {

/// How a family's files describe rotary positions, beside "rope_parameters" and "rope_scaling".
struct RotaryFields {
  const char* theta = "rope_theta";  // the base's older name
  double default_theta = 10000.0;    // where no field has it
  /// The older name of the rotated fraction of a head; null: whole heads are rotated.
  const char* fraction = nullptr;
  double default_fraction = 1.0;
  bool ntk = false;  // whether it has this kind of scaling
};

/// The same where layers with a window have a base of their own, and "rope_parameters" has an
/// object for them and one for all others.
struct LayerRotaryFields {
  const char *theta, *local_theta;
  double default_theta;
  bool scales_both;  // whether "rope_scaling" is also that of layers with a window
};

/// Rotary base and scaling, as transformers has them: "rope_scaling" or else "rope_parameters", and
/// for a base that these lack its older name; config.max_positions stands in for the original
/// longest sequence when that is missing, and becomes the longest one that a linear scaling or yarn
/// is made for. The rotated columns of a head are the fraction of them, rounded down. Throws Error
/// on an unknown kind of scaling.
void read_rotary(ConfigReader& json, const RotaryFields& fields, ModelConfig& config);
void read_rotary_by_layer(ConfigReader& json, const LayerRotaryFields& fields, ModelConfig& config);
/// "rope_parameters" and, for older readers, "rope_theta" and "rope_scaling", into `json`.
void write_rotary(const ModelConfig& config, nlohmann::json& json);

/// The same where layers with a window have a base of their own.
void write_rotary_by_layer(const ModelConfig& config, nlohmann::json& json);

/// The fraction that reads back as this number of rotated columns.
double partial_rotary_factor(int64_t rotary_dim, int64_t head_dim);

}  // namespace heed::model
