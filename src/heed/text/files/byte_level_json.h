#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "heed/text/pre_tokenizers/named_patterns.h"

// Parts of the tokenizer.json of a BPE tokenizer.
namespace heed::text {

/// A member of "added_tokens", which is found in the text as it is.
nlohmann::json added_token_json(size_t id, std::string_view content, bool special);

/// The ByteLevel step; as a decoder it has the same members.
nlohmann::json byte_level_step(bool add_prefix_space);

/// Splits words, one pattern after the other, and replaces bytes by GPT-2's letters.
nlohmann::json byte_level_pre_tokenizer(const NamedSplit& split, bool add_prefix_space);

/// "model" with an empty vocabulary and without merges. With `bytes`, as SentencePiece's: unknown
/// characters become pieces for bytes.
nlohmann::json bpe_model_json(const std::optional<std::string>& unknown, bool bytes,
                              bool ignore_merges);

}  // namespace heed::text
