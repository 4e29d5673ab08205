#pragma once

#include "heed/model/families/bert.h"

namespace heed::model {

// What RoBERTa has in common with the families derived from it.

/// max_position_embeddings of the file counts the rows before the first position, which is
/// pad_token_id + 1.
ModelConfig read_roberta(ConfigReader& json, std::string_view stem);
nlohmann::json write_roberta(const ModelConfig& config, std::string_view type,
                             std::string_view stem);
/// The file's name of a weight, from heed's; `prefix` as in bert_name().
std::string roberta_name(const ModelConfig& config, const std::string& name,
                         std::string_view prefix);
/// The bias that the head has beside the one that is tied to it; empty for other parameters.
std::string roberta_own_bias(const std::string& name);

}  // namespace heed::model
