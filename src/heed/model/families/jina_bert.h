#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/model/families/family.h"

namespace heed::model {

// JinaBERT (Günther et al. 2023): BERT with linear biases of attention (ALiBi) and gated
// feed-forward networks. Its files have BERT's "model_type".

/// Whether a config.json of BERT's "model_type" is JinaBERT's.
bool describes_jina_bert(ConfigReader& json);
bool is_jina_bert(const ModelConfig& config);
ModelConfig read_jina_bert(ConfigReader& json);
nlohmann::json write_jina_bert(const ModelConfig& config);
/// The name of a weight that BERT's table calls `name`.
StoredWeight jina_bert_weight(const ModelConfig& config, StoredWeight weight);

}  // namespace heed::model
