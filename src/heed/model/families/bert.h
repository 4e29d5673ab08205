#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// BERT (Devlin et al. 2018): an encoder alone with learned positions and segments. BertForMaskedLM
/// has the vocabulary head, BertModel the pooler instead.
Family bert_family();

/// The classes that read one family of encoders in Python.
struct EncoderClasses {
  std::string_view masked;  // predicts masked tokens
  std::string_view bare;    // states alone
};

/// Whether "architectures" names the class with the head (or BertForPreTraining); not when it is
/// missing or names the bare one. Throws Error on another.
bool read_has_head(const nlohmann::json& json, const std::string& file,
                   const EncoderClasses& classes);

/// What the config.json files of BERT and those that follow it have in common.
ModelConfig read_bert(const nlohmann::json& json, const std::string& file,
                      const EncoderClasses& classes);
nlohmann::json write_bert(const ModelConfig& config, std::string_view type,
                          const EncoderClasses& classes);

/// How the weights of BERT and those that follow it are called, but for the head. `prefix` is not
/// there in files of the bare class.
std::string bert_name(const ModelConfig& config, const std::string& name, std::string_view prefix);
/// What files of the first years call a weight: a norm's "gamma" and "beta".
std::string older_bert_name(const std::string& name);
/// Tensors that `bert_name` does not cover: position numbers, and the pooler beside a head.
bool redundant_in_bert(std::string_view name);

}  // namespace heed::model
