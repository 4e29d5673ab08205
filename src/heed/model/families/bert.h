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

/// What the GGUF files of BERT and of the families derived from it say.
inline constexpr MetadataField kGgufBert[] = {
    required("embedding_length", "hidden_size", io::GgufType::u32),
    required("attention.head_count", "num_attention_heads", io::GgufType::u32),
    required("feed_forward_length", "intermediate_size", io::GgufType::u32),
    required("attention.layer_norm_epsilon", "layer_norm_eps", io::GgufType::f32),
    required("context_length", "max_position_embeddings", io::GgufType::u32)};
/// GgufForm::read beside it. The files have no head for masked tokens and no pooler; they may have
/// a classifier, which llama.cpp calls rank pooling.
void read_gguf_bert(const ArchitectureMetadata& metadata, std::string_view stem,
                    nlohmann::json& config);
/// GgufForm::write: the labels.
void write_gguf_bert(const ModelConfig& config, ArchitectureValues& metadata);

}  // namespace heed::model
