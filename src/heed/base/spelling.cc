#include "heed/base/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace heed {

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

std::string similar_word(std::string_view word, const std::set<std::string, std::less<>>& known) {
  // Of a short word, fewer letters make another word of it.
  const size_t most_typos = word.size() < 6 ? 1 : 2;
  for (const std::string& one : known) {
    const size_t longer = std::max(one.size(), word.size());
    const size_t shorter = std::min(one.size(), word.size());
    if (shorter > 2 && longer - shorter <= most_typos && edit_distance(one, word) <= most_typos)
      return one;
  }
  return {};
}

}  // namespace heed
