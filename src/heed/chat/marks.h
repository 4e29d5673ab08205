#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace heed::chat {

/// Size of the longest end of `text` with which `mark` begins: of text that may still become one.
inline size_t partial_mark(std::string_view text, std::string_view mark) {
  for (size_t size = std::min(text.size(), mark.empty() ? 0 : mark.size() - 1); size > 0; --size)
    if (text.ends_with(mark.substr(0, size))) return size;
  return 0;
}

}  // namespace heed::chat
