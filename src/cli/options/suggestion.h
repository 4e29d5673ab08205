#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// What was meant by a misspelt `text`: the known name that differs least from it, in few letters,
/// in the case of letters only, or which `text` is short for. Empty: no name is near.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

/// "; did you mean NAME?" for a name that is near; empty otherwise.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace heed::cli
