#pragma once

#include <string_view>
#include <vector>

namespace heed::metrics {

/// Splits at white space exactly as Python's str.split(), on which sacrebleu's metrics are based,
/// including Unicode white space (U+00A0, U+3000, ...). The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

/// `text` without trailing white space, as Python's str.rstrip().
std::string_view without_trailing_space(std::string_view text);

}  // namespace heed::metrics
