#pragma once

#include <string>
#include <string_view>

namespace heed::train {

/// Throws Error, naming `file`, when a key of a TOML document has more parts than
/// base/reader_limits.h allows (a.b.c has three). The parser limits the nesting of values but not
/// of keys, so a hostile key would overflow the stack.
void check_toml_keys(std::string_view text, const std::string& file);

}  // namespace heed::train
