#pragma once

#include <string>
#include <string_view>

namespace heed::constrain {

/// The URI that a reference means beside a base (RFC 3986, section 5.2).
std::string resolve_uri(std::string_view base, std::string_view reference);

/// `text` with %41 replaced by A. Bytes after a "%" that are no hexadecimal digits stay.
std::string decode_percent(std::string_view text);

}  // namespace heed::constrain
