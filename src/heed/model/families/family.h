#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/config.h"
#include "heed/model/families/config_reader.h"
#include "heed/model/gguf/fields.h"
#include "heed/model/gguf/weight_names.h"

namespace heed::model {

/// A table of weights: heed's name and shape of a parameter to its name and shape in the file.
using StoredTable = StoredWeight (*)(const ModelConfig& config, const std::string& name,
                                     const Shape& shape);

/// How GGUF files hold the models of a family.
struct GgufForm {
  /// Values of "general.architecture", which several families may share; of two, the second is that
  /// of an encoder alone. Empty: heed knows no GGUF files of the family.
  std::vector<std::string_view> architectures = {};
  /// Whether a file of such an architecture is the family's. Null: if it is no other family's.
  bool (*holds)(const ArchitectureMetadata& metadata) = nullptr;
  /// The keys of the metadata that a field of config.json says, too.
  std::vector<std::span<const MetadataField>> fields = {};
  /// Sets the other fields of config.json, which follow from several keys or from the tensors.
  void (*read)(const ArchitectureMetadata& metadata, nlohmann::json& config) = nullptr;
  /// Sets the other keys of the metadata of a file. Null: there are none.
  void (*write)(const ModelConfig& config, ArchitectureValues& metadata) = nullptr;
  StoredTable stored = gguf_decoder_weight;
  /// The converter permutes q_proj and k_proj: rows that are rotated together lie next to each
  /// other.
  bool in_pairs = false;
};

/// A family of models as its files describe it: how config.json maps to a ModelConfig and back, and
/// what its weights are called. It adds no code to the forward pass.
struct Family {
  std::string_view model_type;  // config.json's "model_type"
  /// Throws Error naming the field that is missing, of the wrong type, or not supported.
  ModelConfig (*read)(ConfigReader& json);
  /// Writes as much of a configuration as the family's files can express; see can_express().
  nlohmann::json (*write_config)(const ModelConfig& config);
  StoredTable stored;
  /// The table of files whose experts are in MXFP4, which checkpoint/mxfp4_experts.h reads; null if
  /// there are none.
  StoredTable stored_mxfp4 = nullptr;
  /// Whether its files have decoder-only models, or with "is_causal": false encoders of the same
  /// layers.
  bool decoder_only = false;
  /// An optional prefix of all names in a file ("bert."); the table's names have it. The head's
  /// names are the same with and without it.
  std::string_view prefix = {};
  /// The name of a tensor of the table in older files; null if it never changed.
  std::string (*older_name)(const std::string& file_name) = nullptr;
  /// Tensors that files may hold beside the parameters: fixed tables, and parts of the model that
  /// only training needs. Copies of tied weights need not be named.
  bool (*redundant)(std::string_view file_name);
  GgufForm gguf = {};
  /// Parameters that are no parameters in `transformers` but buffers, which training does not
  /// change; null if there are none.
  bool (*buffer)(std::string_view name) = nullptr;
  /// Whether its token embedding there has a padding_idx: looking up pad_id teaches it nothing.
  bool padded_embedding = true;

  /// The configuration in a config.json, with warnings for what it ignores. Tokens that the
  /// vocabulary does not have become none. Throws Error naming the file and the field.
  ModelConfig read_config(const nlohmann::json& json, const std::string& file) const;
  ModelConfig read_config(ConfigReader& json) const;

  /// Why the family's files cannot express this configuration: the first field that reads back
  /// differently after writing (except dropout, which many families do not store). Empty when they
  /// can.
  std::string obstacle(const ModelConfig& config) const;
  bool can_express(const ModelConfig& config) const { return obstacle(config).empty(); }
};

/// The first field that differs in the configuration that was read back from a file, "NAME is
/// VALUE, but would be read back as VALUE", or else "". Numbers may have a relative error; what
/// files of many families do not store is left out: dropout rates, and lengths where positions are
/// scaled.
std::string difference(const ModelConfig& config, ModelConfig again, double tolerance = 0.0);

/// All families, most specific first.
std::span<const Family> families();
/// Throws Error that lists the known types when no family has this one.
const Family& family_of_type(std::string_view model_type, const std::string& file);
/// The family whose models a GGUF file holds. Throws Error that lists the known architectures when
/// there is none.
const Family& gguf_family(const ArchitectureMetadata& metadata);
/// pad_id if the family that `config` names has a padded_embedding, else -1.
int32_t padding_token(const ModelConfig& config);
/// The family that `config` names, or else the first that can express it; the last of them, heed's
/// own, can express all. Throws Error when the named one is unknown or cannot express it.
const Family& family_for(const ModelConfig& config);

}  // namespace heed::model
