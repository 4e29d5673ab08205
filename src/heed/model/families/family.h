#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "heed/model/config.h"

namespace heed::model {

/// How one parameter is stored in a family's files. Several parameters may be parts of one tensor.
struct StoredWeight {
  std::string name;
  Shape shape;  // of the tensor in the file
  /// The file holds the transpose of the matrix (GPT-2's [in, out]).
  bool transposed = false;
  /// The parameter is the rows [first_row, first_row + rows) of the (transposed) tensor.
  int64_t first_row = 0;
  /// A file may lack it, and then it is zero.
  bool zeros_if_missing = false;
};

/// A family of models as its files describe it: how config.json maps to a ModelConfig and back, and
/// what its weights are called. It adds no code to the forward pass.
struct Family {
  std::string_view model_type;  // config.json's "model_type"
  /// Throws Error naming the field that is missing, of the wrong type, or not supported.
  ModelConfig (*read_config)(const nlohmann::json& json, const std::string& file);
  /// Says of a configuration what the family's files can; see can_express().
  nlohmann::json (*write_config)(const ModelConfig& config);
  /// The table of weights: heed's name and shape of a parameter to that of the file.
  StoredWeight (*stored)(const ModelConfig& config, const std::string& name, const Shape& shape);
  /// What all names of a file may begin with or not ("bert."); the table has it.
  std::string_view prefix = {};
  /// What older files call a tensor of the table; none where they agree.
  std::string (*older_name)(const std::string& file_name) = nullptr;
  /// Tensors that files may hold beside the parameters: copies of tied weights, fixed tables.
  bool (*redundant)(std::string_view file_name);

  /// What keeps the family's files from saying all of this configuration: the first field that
  /// reads as something else after writing (but for dropout, which many families do not say). Empty
  /// when nothing does.
  std::string obstacle(const ModelConfig& config) const;
  bool can_express(const ModelConfig& config) const { return obstacle(config).empty(); }
};

/// All families, most specific first.
std::span<const Family> families();
/// Throws Error, with the known ones, when no family has this model type.
const Family& family_of_type(std::string_view model_type, const std::string& file);
/// The family that `config` names, or else the first that can express it; the last of them, heed's
/// own, can express all. Throws Error when the named one is unknown or cannot.
const Family& family_for(const ModelConfig& config);

}  // namespace heed::model
