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

/// Splits words, one pattern after the other, and replaces bytes by GPT-2's characters.
nlohmann::json byte_level_pre_tokenizer(const NamedSplit& split, bool add_prefix_space);

/// Steps that are applied one after the other; `member` is "normalizers", "decoders" and so on.
nlohmann::json sequence_step(const char* member, nlohmann::json steps);

/// Replaces a text; as a normalizer and as a decoder it has the same members.
nlohmann::json replace_step(const char* from, const char* to);

/// The decoder of SentencePiece's BPE; with `strips_space`, without the space before the text.
nlohmann::json byte_fallback_decoder(bool strips_space);

/// "model" with an empty vocabulary and without merges. With `bytes`, as SentencePiece's: unknown
/// characters become pieces for bytes.
nlohmann::json bpe_model_json(const std::optional<std::string>& unknown, bool bytes,
                              bool ignore_merges);

}  // namespace heed::text
