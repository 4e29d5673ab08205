#include "cli/options/suggestion.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "heed/base/ascii.h"

namespace heed::cli {
namespace {

/// Damerau and Levenshtein's distance: the letters that are inserted, left out, replaced, or
/// exchanged with the next one.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] =
          std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

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
