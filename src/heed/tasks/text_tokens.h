#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// The tokens of a text with special tokens around it.
struct TextTokens {
  std::vector<int32_t> ids;
  int64_t begin = 0, end = 0;  // the tokens of the text itself
  int64_t cut = 0;             // the number of its tokens that were truncated before them
};

/// How many tokens a text may have (0: any number), and whether a longer one loses its beginning
/// instead of its end.
struct TokenLimit {
  int64_t most = 0;
  bool truncate_left = false;
};

/// The tokens of a text within a limit; special tokens are truncated last.
TextTokens tokens_within(const text::Tokenizer& tokenizer, std::string_view text,
                         const TokenLimit& limit);

/// Their ids alone, which takes less work for texts that are not truncated.
std::vector<int32_t> ids_within(const text::Tokenizer& tokenizer, std::string_view text,
                                const TokenLimit& limit);

}  // namespace heed::tasks
