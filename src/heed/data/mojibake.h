#pragma once

#include <string_view>

namespace heed::data {

/// Whether a text of UTF-8 has the traces of a wrong decoding: U+FFFD, control characters of
/// Latin-1, or UTF-8 that was read as Windows-1252 ("cafÃ©", "donâ€™t", "Ð¼Ð¸Ñ€"). Only those
/// sequences count that are rare in any language.
bool has_mojibake(std::string_view text);

}  // namespace heed::data
