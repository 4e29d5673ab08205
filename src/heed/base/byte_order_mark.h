#pragma once

#include <string_view>

namespace heed {

/// A text file's contents without the UTF-8 byte order mark that may begin it, which is no text.
inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace heed
