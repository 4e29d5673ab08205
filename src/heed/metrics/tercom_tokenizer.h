#pragma once

#include <string>
#include <string_view>

#include "heed/metrics.h"

namespace heed::metrics {

/// Tercom's tokenisation as sacrebleu defines it: what TerOptions say, in their order. Returns the
/// text with white space between tokens, for split_words(). Takes linear time.
std::string tokenize_tercom(std::string_view text, const TerOptions& options);

}  // namespace heed::metrics
