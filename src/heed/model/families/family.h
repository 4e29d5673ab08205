#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/model/config.h"

namespace heed::model {

/// How one parameter is stored: under which name, and in which shape (of as many elements).
struct StoredWeight {
  std::string name;
  Shape shape;
};

/// A family of models as its files describe it: how config.json maps to a ModelConfig and back, and what
/// its weights are called. It adds no code to the forward pass.
struct Family {
  std::string_view model_type;  // config.json's "model_type"
  /// Throws Error naming the field that is missing, of the wrong type, or not supported.
  ModelConfig (*read_config)(const nlohmann::json& json, const std::string& file);
  nlohmann::json (*write_config)(const ModelConfig& config);
  /// Whether the family's files can say all of this configuration.
  bool (*can_express)(const ModelConfig& config);
  /// The table of weights: heed's name and shape of a parameter to that of the file.
  StoredWeight (*stored)(const std::string& name, const Shape& shape);
  /// Tensors that files may hold beside the parameters: copies of tied weights, fixed tables.
  bool (*redundant)(std::string_view file_name);
};

/// All families, most specific first.
std::span<const Family> families();
/// Throws Error, with the known ones, when no family has this model type.
const Family& family_of_type(std::string_view model_type, const std::string& file);
/// The first family that can express `config`; the last of them, heed's own, can express all.
const Family& family_for(const ModelConfig& config);

}  // namespace heed::model
