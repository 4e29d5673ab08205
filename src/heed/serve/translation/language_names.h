#pragma once

#include <string_view>

namespace heed::serve {

/// The English name of a language in two letters ("de" is "German"); the code itself if it has none
/// here.
std::string_view name_of_language(std::string_view code);

}  // namespace heed::serve
