#include "heed/generate/stop_strings.h"

#include <algorithm>
#include <utility>

namespace heed::generate {

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  std::erase_if(strings_, [](const std::string& text) { return text.empty(); });
}

/// The length of the longest suffix of the held text that is a prefix of a stop string.
size_t StopStrings::held_size() const {
  size_t longest = 0;
  for (const std::string& stop : strings_)
    for (size_t size = std::min(stop.size() - 1, held_.size()); size > longest; --size)
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, size))) longest = size;
  return longest;
}

std::string StopStrings::feed(std::string_view text) {
  if (found_) return {};
  held_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : strings_) {
    const size_t at = held_.find(stop);
    if (at >= first) continue;
    first = at;
    found_ = stop;
  }
  const size_t certain = found_ ? first : held_.size() - held_size();
  std::string released = held_.substr(0, certain);
  held_.erase(0, found_ ? held_.size() : certain);
  return released;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace heed::generate
