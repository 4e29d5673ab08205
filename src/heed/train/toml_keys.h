#pragma once

#include <string>
#include <string_view>

namespace heed::train {

/// Throws Error, calling the text `file`, when a key of a TOML document has more parts than
/// base/reader_limits.h allows: a.b.c has three. The parser limits how deep values nest, but not
/// this, and a hostile key would exhaust the stack.
void check_toml_keys(std::string_view text, const std::string& file);

}  // namespace heed::train
