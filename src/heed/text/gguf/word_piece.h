#pragma once

#include <string>

#include "heed/io/gguf/gguf_file.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

/// The tokenizer "bert" of a GGUF file, WordPiece: a piece that begins a word has U+2581 before it,
/// one that continues a word is bare, and control tokens are as they are. `file` is the file's name
/// in messages. Throws Error when a list is missing or wrong.
Tokenizer read_gguf_word_piece(const io::GgufMetadata& metadata, const std::string& file);

}  // namespace heed::text
