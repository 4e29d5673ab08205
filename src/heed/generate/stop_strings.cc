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

/// Removes the first bytes of the held text and returns those that are not hidden.
std::string StopStrings::release(size_t size) {
  std::string released;
  for (size_t i = 0; i < size; ++i)
    if (!hidden_[i]) released.push_back(held_[i]);
  held_.erase(0, size);
  hidden_.erase(hidden_.begin(), hidden_.begin() + static_cast<std::ptrdiff_t>(size));
  return released;
}

std::string StopStrings::feed(std::string_view text, bool hidden) {
  if (found_) return {};
  held_ += text;
  hidden_.resize(held_.size(), hidden);
  size_t first = std::string::npos;
  for (const std::string& stop : strings_) {
    const size_t at = held_.find(stop);
    if (at >= first) continue;
    first = at;
    found_ = stop;
  }
  std::string released = release(found_ ? first : held_.size() - held_size());
  if (found_) release(held_.size());
  return released;
}

std::string StopStrings::finish() { return release(held_.size()); }

}  // namespace heed::generate
