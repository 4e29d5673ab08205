#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::generate {

/// The tokens of a text with special tokens around it.
struct TextTokens {
  std::vector<int32_t> ids;
  int64_t begin = 0, end = 0;  // those of the text itself
};

/// The tokens of a text, truncated to `most` (0: not at all); special tokens are truncated last.
TextTokens tokens_within(const text::Tokenizer& tokenizer, std::string_view text, int64_t most);

/// Their ids alone, which takes less work for texts that are not truncated.
std::vector<int32_t> ids_within(const text::Tokenizer& tokenizer, std::string_view text,
                                int64_t most);

}  // namespace heed::generate
