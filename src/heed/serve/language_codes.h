#pragma once

#include <string_view>

#include "heed/text/language_codes.h"

namespace heed::serve {

using text::code_of_language;
using text::short_language;

/// The English name of a language in two letters ("de" is "German"); the code itself if it has none
/// here.
std::string_view name_of_language(std::string_view code);

}  // namespace heed::serve
