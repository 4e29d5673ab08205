#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heed::inspect {

/// Two texts as HTML in which the words that the other text does not have at this place are marked:
/// <mark>...</mark>. Words are what white space separates; Chinese, Japanese and Thai letters are
/// words of their own. What is common is a longest common subsequence. Texts of more than 1000
/// words are not compared and come back without marks.
std::pair<std::string, std::string> marked_differences(std::string_view reference,
                                                       std::string_view translation);

}  // namespace heed::inspect
