#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

/// The bytes of base64 text (RFC 4648, with padding); nullopt when it is not valid.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace heed::text
