#pragma once

#include <nlohmann/json.hpp>

#include "heed/model/families/family.h"

namespace heed::model {

/// Exchanges a decoder-only configuration with that of an encoder: the same layers, whose tokens
/// see those after them, too. Windows of the decoder's side keep their numbers.
ModelConfig turned(ModelConfig config);

// "is_causal": false makes an encoder of a decoder-only family (gte-Qwen2): it embeds, but does not
// generate. A window then counts the tokens before and after a token without itself.
ModelConfig read_either_direction(const Family& family, ConfigReader& json);
nlohmann::json write_either_direction(const Family& family, const ModelConfig& config);
/// The names of its weights are those of the decoder.
using StoredTable = StoredWeight (*)(const ModelConfig&, const std::string&, const Shape&);
StoredWeight stored_either_direction(StoredTable table, const ModelConfig& config,
                                     const std::string& name, const Shape& shape);

/// A decoder-only family whose files may say "is_causal".
template <Family (*base)()>
Family either_direction() {
  Family family = base();
  family.decoder_only = true;
  family.read = [](ConfigReader& json) { return read_either_direction(base(), json); };
  family.write_config = [](const ModelConfig& config) {
    return write_either_direction(base(), config);
  };
  family.stored = [](const ModelConfig& config, const std::string& name, const Shape& shape) {
    return stored_either_direction(base().stored, config, name, shape);
  };
  if (family.stored_mxfp4)
    family.stored_mxfp4 = [](const ModelConfig& config, const std::string& name,
                             const Shape& shape) {
      return stored_either_direction(base().stored_mxfp4, config, name, shape);
    };
  return family;
}

}  // namespace heed::model
