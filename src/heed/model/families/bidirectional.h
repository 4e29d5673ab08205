#pragma once

#include <nlohmann/json.hpp>

#include "heed/model/families/family.h"

namespace heed::model {

/// Swaps the numbers of encoder and decoder layers: a decoder-only configuration becomes that of an
/// encoder of the same layers, whose attention is bidirectional. `windows` is unchanged.
ModelConfig swapped_stacks(ModelConfig config);

// "is_causal": false makes the model of a decoder-only family a bidirectional encoder (gte-Qwen2):
// it embeds, but does not generate. An encoder's window counts the tokens on either side of a token
// without itself, a decoder's counts the token, too.
ModelConfig read_maybe_bidirectional(const Family& family, ConfigReader& json);
nlohmann::json write_maybe_bidirectional(const Family& family, const ModelConfig& config);
/// The names of its weights are those of the decoder.
StoredWeight stored_maybe_bidirectional(StoredTable table, const ModelConfig& config,
                                        const std::string& name, const Shape& shape);

/// A decoder-only family whose files may say "is_causal".
template <Family (*base)()>
Family maybe_bidirectional() {
  Family family = base();
  family.decoder_only = true;
  family.read = [](ConfigReader& json) { return read_maybe_bidirectional(base(), json); };
  family.write_config = [](const ModelConfig& config) {
    return write_maybe_bidirectional(base(), config);
  };
  family.stored = [](const ModelConfig& config, const std::string& name, const Shape& shape) {
    return stored_maybe_bidirectional(base().stored, config, name, shape);
  };
  if (family.stored_mxfp4)
    family.stored_mxfp4 = [](const ModelConfig& config, const std::string& name,
                             const Shape& shape) {
      return stored_maybe_bidirectional(base().stored_mxfp4, config, name, shape);
    };
  return family;
}

}  // namespace heed::model
