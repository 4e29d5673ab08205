#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/text/models/tokenizer_model.h"
#include "heed/text/regex/regex.h"

namespace heed::text {

/// The bytes of `word` that each of `ids` stands for, which are what the model makes of the word.
/// An unknown piece stands for what is before the next known one; of several unknown ones, each for
/// a code point, the last for the rest.
std::vector<TextSpan> piece_spans(const TokenizerModel& model, std::string_view word,
                                  std::span<const int32_t> ids);

}  // namespace heed::text
