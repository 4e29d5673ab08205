#include "cli/options/suggestion.h"

#include <algorithm>
#include <limits>

#include "heed/base/ascii.h"
#include "heed/base/spelling.h"

namespace heed::cli {
namespace {

/// Whether the words of `text`, in their order, begin words of `name`: "max-token" is short for
/// "max-new-tokens".
bool is_short_for(std::string_view text, std::string_view name) {
  size_t at = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('-', 1));
    while (!name.substr(at).starts_with(word)) {
      at = name.find('-', at + 1);
      if (at == name.npos) return false;
    }
    at += word.size();
    text.remove_prefix(word.size());
  }
  return true;
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  constexpr size_t kLongest = 64, kShortestShort = 3;
  if (text.empty() || text.size() > kLongest) return {};
  const std::string typed = lower_case(text);
  size_t least = std::numeric_limits<size_t>::max();
  std::string nearest;
  for (const std::string& name : names) {
    const std::string known = lower_case(name);
    size_t distance = edit_distance(typed, known);
    if (typed.size() >= kShortestShort && is_short_for(typed, known))
      distance = std::min<size_t>(distance, 1);
    const size_t most = std::max<size_t>(1, std::min(typed.size(), known.size()) / 3);
    if (distance > most || distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string name = nearest_name(text, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace heed::cli
