#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// BERT (Devlin et al. 2018): encoder-only, with learned positions and segments. BertForMaskedLM
/// has the vocabulary head, BertModel the pooler instead.
Family bert_family();

/// The `transformers` classes of a family of encoders.
struct EncoderClasses {
  std::string_view masked;  // predicts masked tokens
  std::string_view bare;    // states only
};

/// Whether "architectures" names the class with the head (or BertForPreTraining); false when it is
/// missing or names the bare one. Throws Error on any other.
bool read_has_head(const nlohmann::json& json, const std::string& file,
                   const EncoderClasses& classes);

/// Reads what the config.json files of BERT and of the families derived from it have in common.
ModelConfig read_bert(const nlohmann::json& json, const std::string& file,
                      const EncoderClasses& classes);
nlohmann::json write_bert(const ModelConfig& config, std::string_view type,
                          const EncoderClasses& classes);

/// The stored names of the weights of BERT and of the families derived from it, except the head's.
/// Files of the bare class lack `prefix`.
std::string bert_name(const ModelConfig& config, const std::string& name, std::string_view prefix);
/// The name of a weight in the oldest files, in which norms have "gamma" and "beta".
std::string older_bert_name(const std::string& name);
/// Tensors that `bert_name` does not cover: position numbers, and the pooler beside a head.
bool redundant_in_bert(std::string_view name);

}  // namespace heed::model
