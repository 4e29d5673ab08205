#pragma once

#include <string>
#include <string_view>

namespace heed::text {

/// Throws Error, calling the file `name`, when the bytes of a SentencePiece .model file are not a
/// message of the protocol-buffer format or when one of its compiled normalisation tables (a
/// double-array trie, Aoe 1989, with its replacements behind it) leads outside itself. The library
/// walks these tables unchecked.
void check_sentencepiece_model(std::string_view serialized, const std::string& name);

}  // namespace heed::text
