#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/text/pre_tokenizers/pre_tokenizer.h"

namespace heed::text {

using WordCounts = std::unordered_map<std::string, int64_t>;

/// How often each word occurs in `texts`, as the pre-tokenizer cuts and writes words. Malformed
/// UTF-8 is read as with_replacements() does. Computes on the threads of the current Executor.
WordCounts count_words(const std::vector<std::string>& texts, const PreTokenizer& pre_tokenizer);

}  // namespace heed::text
