#pragma once

#include <string>
#include <string_view>

/// What the tokenisations of BLEU and TER share: the rules of WMT's mteval-v13a. They distinguish
/// only ASCII characters, so they work on bytes. All take linear time.
namespace heed::metrics {

/// `text` with every `from`, searched from the left, replaced.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// Decodes &quot; &amp; &lt; &gt;, one kind after the other, as the definition does: "&amp;lt;"
/// becomes "<".
std::string decode_entities(std::string text);

/// Puts spaces around printable ASCII except letters, digits and ' , - .
std::string separate_symbols(std::string_view text);

/// Separates full stops and commas that are not between digits, and hyphens after a digit.
std::string separate_stops(std::string_view text);

}  // namespace heed::metrics
