#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::serve {

/// Splits the target of a request, "/path?query" or "http://host/path?query", and decodes the
/// percent signs of the path. Returns false when it is neither, or when an escape is wrong.
bool split_target(std::string_view target, std::string& path, std::string& query);

/// `text` with "%2F" as "/"; nothing when an escape is wrong. `plus` reads "+" as a space, as in
/// forms.
std::optional<std::string> percent_decoded(std::string_view text, bool plus = false);

}  // namespace heed::serve
