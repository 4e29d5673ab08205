#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heed::inspect {

/// Both texts as HTML, with <mark> around the words that are not part of a longest common
/// subsequence of the two. Words are separated by white space; each Chinese, Japanese or Thai
/// character is a word by itself. Texts of more than 1000 words are not compared.
std::pair<std::string, std::string> marked_differences(std::string_view reference,
                                                       std::string_view translation);

}  // namespace heed::inspect
