#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// Bytes as base64 with padding (RFC 4648).
std::string encode_base64(std::string_view bytes);
/// The bytes of base64 text (RFC 4648, with padding); nullopt when it is not valid.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace heed
