#pragma once

#include <filesystem>

#include "heed/text/tokenizer.h"

namespace heed::text {

/// The tokenizer of a model directory, a tokenizer.json, a SentencePiece model or a GGUF file.
/// Throws Error when there is none or when it is damaged, and on a translation model with a
/// vocabulary for each side.
Tokenizer read_tokenizer(const std::filesystem::path& path);

/// The tokenizer of a SentencePiece model, without special tokens around a text; `name` is its name
/// in messages.
Tokenizer sentencepiece_tokenizer(std::string serialized, const std::string& name);

}  // namespace heed::text
