#include "heed/text/regex/ignore_case.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <vector>

namespace heed::text {
namespace {

/// The same value for all code points that differ in case alone.
char32_t folded(char32_t value) {
  return static_cast<char32_t>(
      utf8proc_tolower(utf8proc_toupper(static_cast<utf8proc_int32_t>(value))));
}

/// For each folded value the other code points that fold to it.
using Cases = std::map<char32_t, std::vector<char32_t>>;

Cases characters_with_cases() {
  constexpr char32_t kLastWithCase = 0x1E943;
  Cases cases;
  for (char32_t value = 0; value <= kLastWithCase; ++value) {
    const char32_t lower = folded(value);
    if (lower != value) cases[lower].push_back(value);
  }
  return cases;
}

void add_cases(CodePointRanges& set, const Cases::value_type& entry) {
  set.add(entry.first, entry.first);
  for (const char32_t other : entry.second) set.add(other, other);
}

}  // namespace

void add_other_cases(CodePointRanges& set) {
  static const Cases cases = characters_with_cases();
  const std::vector<CodePointRanges::Range> ranges = set.ranges();
  if (ranges.size() == 1 && ranges[0].first == ranges[0].last) {
    const char32_t value = ranges[0].first;
    for (const char32_t lower : {value, folded(value)})
      if (const auto found = cases.find(lower); found != cases.end()) add_cases(set, *found);
    return;
  }
  const CharSet members(set);
  for (const auto& entry : cases) {
    const auto in_set = [&](char32_t value) { return members.contains(value); };
    if (in_set(entry.first) || std::any_of(entry.second.begin(), entry.second.end(), in_set))
      add_cases(set, entry);
  }
}

}  // namespace heed::text
