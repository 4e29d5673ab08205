#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/io/gguf/metadata.h"
#include "heed/io/gguf/write.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

/// The keys "tokenizer.ggml. ..." that describe a tokenizer, as llama.cpp's converter writes them.
struct GgufTokenizer {
  io::GgufValues metadata;
  std::vector<std::string> warnings = {};  // what they leave out
  bool normalizes = true;  // false: they leave out how the tokenizer normalizes a text
};

/// Of a model with this many rows in its embedding; rows without a piece get names such as
/// "[PAD7]". Throws Error on a tokenizer that GGUF has no keys for, naming the part.
GgufTokenizer gguf_tokenizer(const Tokenizer& tokenizer, int64_t rows);

/// Throws Error when the tokenizer that is read back from the metadata of a GGUF file, which has
/// what was `written`, gives other ids, naming a text. A text with special tokens is left out: GGUF
/// files cannot say what becomes of the space after them. Returns a warning if it gives other ids,
/// or else "".
std::string check_gguf_tokenizer(const io::GgufMetadata& metadata, const std::string& file,
                                 const Tokenizer& tokenizer, const GgufTokenizer& written);

}  // namespace heed::text
