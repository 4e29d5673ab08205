#pragma once

#include <string>
#include <string_view>

namespace heed::metrics {

/// The tokenisation behind published BLEU scores: that of WMT's mteval-v13a as sacrebleu defines
/// it. ASCII punctuation becomes words of its own, except apostrophes, hyphens that follow no
/// digit, and full stops and commas between digits; entities (&quot; &amp; &lt; &gt;) are resolved.
/// Returns the text with white space around tokens, for split_words(). Linear in the text's length.
std::string tokenize_13a(std::string_view text);

}  // namespace heed::metrics
