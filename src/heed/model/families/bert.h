#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Reads what the first of "architectures" says about the head. Names of classes are `stem` and
/// "ForMaskedLM" (or "BertForPreTraining"), "ForSequenceClassification", "ForTokenClassification",
/// or "Model" for states only, as when it is missing. Throws Error on any other.
void read_encoder_head(ConfigReader& json, std::string_view stem, ModelConfig& config);
/// "architectures" and the classifier's fields into `json`.
void write_encoder_head(const ModelConfig& config, std::string_view stem, nlohmann::json& json);
/// Whether it is the class for states only, whose files lack the prefix of the others.
bool is_bare_encoder(const ModelConfig& config);

/// Reads what the config.json files of BERT and of the families derived from it have in common;
/// `stem` as in read_encoder_head().
ModelConfig read_bert(ConfigReader& json, std::string_view stem);
nlohmann::json write_bert(const ModelConfig& config, std::string_view type, std::string_view stem);

/// The stored names of the weights of BERT and of the families derived from it, except the head's.
/// Files of the bare class lack `prefix`.
std::string bert_name(const ModelConfig& config, const std::string& name, std::string_view prefix);
/// The name of a weight in the oldest files, in which norms have "gamma" and "beta".
std::string older_bert_name(const std::string& name);
/// Tensors that `bert_name` does not cover: position numbers, and the pooler beside a head.
bool redundant_in_bert(std::string_view name);

/// The part of config.json that follows from the GGUF files of BERT and of the families derived
/// from it. They have no head for masked tokens and no pooler; they may have a classifier, which
/// llama.cpp calls rank pooling.
nlohmann::json gguf_bert(const ArchitectureMetadata& metadata, std::string_view stem);

}  // namespace heed::model
