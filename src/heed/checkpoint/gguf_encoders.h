#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "heed/checkpoint/gguf_metadata.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

// Encoders in GGUF files. Their files have no head for masked tokens and no pooler; they may have a
// classifier, which llama.cpp calls rank pooling.

/// config.json of the architecture "bert": BERT, or RoBERTa and XLM-RoBERTa, which the tokenizer
/// tells apart, and whose positions the converter cuts to begin at 0.
nlohmann::json bert_config(const ArchitectureMetadata& metadata);
/// Of "nomic-bert".
nlohmann::json nomic_bert_config(const ArchitectureMetadata& metadata);
/// Of "modern-bert".
nlohmann::json modern_bert_config(const ArchitectureMetadata& metadata);

/// Sets what config.json cannot say of an encoder's classifier: the converter leaves BERT's pooler
/// out, so that labels are read from the first state itself.
void set_gguf_classifier(const io::GgufFile& file, model::ModelConfig& config);

/// The name and shape in a GGUF file of an encoder's weight.
model::StoredWeight gguf_encoder_weight(const model::ModelConfig& config, const std::string& name,
                                        const Shape& shape);

}  // namespace heed::checkpoint
