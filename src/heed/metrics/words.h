#pragma once

#include <string_view>
#include <vector>

namespace heed::metrics {

/// The words of a text with white space between them as Python's str.split() sees it, Unicode's
/// included (U+00A0, U+3000, ...): sacrebleu's metrics rest on it. The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

/// `text` up to its last word, as Python's str.rstrip() leaves it.
std::string_view without_trailing_space(std::string_view text);

}  // namespace heed::metrics
