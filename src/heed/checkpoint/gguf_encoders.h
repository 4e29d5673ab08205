#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "heed/checkpoint/gguf_metadata.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

// Encoders in GGUF files. Their files have no head for masked tokens and no pooler.

/// config.json of the architecture "bert": BERT, or RoBERTa and XLM-RoBERTa, whose positions the
/// converter cuts to begin at 0.
nlohmann::json bert_config(const ArchitectureMetadata& metadata);
/// Of "nomic-bert".
nlohmann::json nomic_bert_config(const ArchitectureMetadata& metadata);
/// Of "modern-bert".
nlohmann::json modern_bert_config(const ArchitectureMetadata& metadata);

/// The name and shape in a GGUF file of an encoder's weight.
model::StoredWeight gguf_encoder_weight(const model::ModelConfig& config, const std::string& name,
                                        const Shape& shape);

}  // namespace heed::checkpoint
