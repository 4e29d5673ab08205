#pragma once

#include <string>

#include "heed/io/gguf/metadata.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

/// The tokenizer inside a GGUF file (its keys "tokenizer.ggml. ..."): of the kind "gpt2"
/// (byte-level BPE with a pattern of named_split()) or "llama" (SentencePiece's BPE by scores, with
/// pieces for bytes). files() returns it as a tokenizer.json. `file` is its name in messages.
/// Throws Error when it is missing, broken or of another kind.
Tokenizer read_gguf_tokenizer(const io::GgufMetadata& metadata, const std::string& file);

}  // namespace heed::text
