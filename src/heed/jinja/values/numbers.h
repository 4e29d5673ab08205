#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heed::jinja {

/// int(text, base) without what does not fit into 64 bits; base 0 reads a prefix.
std::optional<int64_t> parse_integer(std::string_view text, int base);
/// float(text)
std::optional<double> parse_float(std::string_view text);

}  // namespace heed::jinja
