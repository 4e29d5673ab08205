#pragma once

#include <string>
#include <string_view>

namespace heed::metrics {

/// The standard tokenisation for BLEU: WMT's mteval-v13a as defined by sacrebleu. ASCII punctuation
/// becomes separate tokens, except apostrophes, hyphens that do not follow a digit, and full stops
/// and commas between digits; the entities &quot; &amp; &lt; &gt; are decoded. Returns the text
/// with white space between tokens, for split_words(). Takes linear time.
std::string tokenize_13a(std::string_view text);

}  // namespace heed::metrics
