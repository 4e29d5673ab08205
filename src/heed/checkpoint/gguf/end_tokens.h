#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/io/gguf/metadata.h"

namespace heed::checkpoint {

/// The end-of-generation (EOG) tokens, ascending: those that the file names by their role, and as
/// in llama.cpp those that are known by their text, since many files do not name the end of a turn.
/// Ids outside the vocabulary are left out.
std::vector<int64_t> gguf_end_tokens(const io::GgufMetadata& metadata);

/// Whether llama.cpp takes a token for an end-of-generation token by its text alone, unless other
/// tokens of the file are exceptions.
bool is_gguf_end_text(std::string_view text);

}  // namespace heed::checkpoint
