#include "heed/data/windows.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::data {

std::vector<Window> cut_into_windows(const std::vector<std::vector<int32_t>>& documents,
                                     int64_t max_length) {
  require(max_length >= 1, "the window length is {}, expected at least 1", max_length);
  std::vector<Window> windows;
  for (size_t d = 0; d < documents.size(); ++d) {
    const auto size = static_cast<int64_t>(documents[d].size());
    for (int64_t begin = 0; begin < size; begin += max_length)
      windows.push_back({static_cast<int64_t>(d), begin, std::min(begin + max_length, size)});
  }
  return windows;
}

std::span<const int32_t> tokens_of(const Documents& documents, const Window& window) {
  return std::span((*documents)[static_cast<size_t>(window.document)])
      .subspan(static_cast<size_t>(window.begin), static_cast<size_t>(window.length()));
}

}  // namespace heed::data
