#pragma once

#include "heed/model/families/bert.h"

namespace heed::model {

/// RoBERTa (Liu et al. 2019): BERT, but positions begin after pad_token_id, and the head always
/// uses GELU.
Family roberta_family();

/// XLM-RoBERTa (Conneau et al. 2019): RoBERTa by another name.
Family xlm_roberta_family();

// What RoBERTa has in common with the families derived from it.

/// max_position_embeddings of the file counts the rows before the first position, which is
/// pad_token_id + 1.
ModelConfig read_roberta(const nlohmann::json& json, const std::string& file,
                         const EncoderClasses& classes);
nlohmann::json write_roberta(const ModelConfig& config, std::string_view type,
                             const EncoderClasses& classes);
/// The file's name of a weight of the head, from heed's.
std::string roberta_head_name(std::string name);
bool redundant_in_roberta(std::string_view name);

}  // namespace heed::model
