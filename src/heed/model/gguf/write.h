#pragma once

#include <string>
#include <vector>

#include "heed/io/gguf/write.h"
#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"

namespace heed::model {

/// The family whose GGUF files hold such a model. Throws Error when there are none.
const Family& gguf_family_for(const ModelConfig& config);

/// Its "general.architecture". Throws Error likewise.
std::string gguf_architecture(const ModelConfig& config);

/// What a GGUF file says of a model beside its weights and its tokenizer, as llama.cpp's converter
/// writes it: its architecture and what GgufForm maps to config.json. Throws Error when GGUF has no
/// key for a scaling of the rotary positions.
io::GgufValues gguf_metadata(const ModelConfig& config);

/// The tensors that are not weights: the divisors [r / 2] of the rotary frequencies, f32.
std::vector<io::NamedTensor> gguf_rotary_divisors(const ModelConfig& config);

}  // namespace heed::model
