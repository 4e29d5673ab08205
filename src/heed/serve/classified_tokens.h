#pragma once

#include <cstdint>
#include <string>

#include "heed/model.h"

namespace heed::serve {

/// The text of the first `count` tokens of a text, or all of it if it has fewer.
std::string first_tokens(const Tokenizer& tokenizer, std::string text, int64_t count);

/// Cuts the end of a text that is so long that a classifier cannot read it: so little is left that
/// it is read quickly, and enough for the classifier to cut it as it would cut the whole text.
std::string without_unread_end(const Model& model, const Tokenizer& tokenizer, std::string text);

/// How many tokens a classifier reads of an input that has `tokens`. Throws ApiError, which names
/// `field`, when these are fewer and it must not `truncate`.
int64_t tokens_read(const Model& model, int64_t tokens, bool truncate, const std::string& field);

}  // namespace heed::serve
