#include "heed/constrain/code_points.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::constrain {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;
constexpr std::array<std::string_view, 30> kCategories = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

// Each category, and each group of them: "Lu" and "L".
std::map<std::string_view, CodePointSet> all_categories() {
  std::array<CodePointSet, kCategories.size()> sets;
  char32_t begin = 0;
  utf8proc_category_t last = utf8proc_category(0);
  for (char32_t value = 1; value <= CodePointSet::kLast + 1; ++value) {
    // Beyond the last code point it is the category of those that are not assigned.
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(value));
    if (category == last && value <= CodePointSet::kLast) continue;
    sets[static_cast<size_t>(last)].add(begin, value - 1);
    begin = value;
    last = category;
  }
  std::map<std::string_view, CodePointSet> result;
  for (size_t i = 0; i < sets.size(); ++i) {
    result[kCategories[i].substr(0, 1)].add(sets[i]);
    result[kCategories[i]] = std::move(sets[i]);
  }
  return result;
}

// Those that differ from a code point in case alone, if there are any.
std::map<char32_t, std::vector<char32_t>> other_cases() {
  std::map<char32_t, std::vector<char32_t>> all, result;
  for (const std::string_view category : {"Lu", "Ll", "Lt", "Mn", "Nl", "So"}) {
    for (const CodePointSet::Range& range : CodePointSet::category(category).ranges()) {
      for (char32_t value = range.first; value <= range.last; ++value) {
        const auto code = static_cast<utf8proc_int32_t>(value);
        all[static_cast<char32_t>(utf8proc_tolower(utf8proc_toupper(code)))].push_back(value);
      }
    }
  }
  for (const auto& [folded, cases] : all) {
    for (const char32_t each : cases) {
      for (const char32_t other : cases) {
        if (other != each) result[each].push_back(other);
      }
    }
  }
  return result;
}

// Makes the UTF-8 of a set: an expression for the continuation bytes behind each first byte, first
// bytes with equal continuations together.
class Utf8Builder {
 public:
  Utf8Builder(Expressions& expressions, std::span<const CodePointSet::Range> ranges)
      : expressions_(expressions), ranges_(ranges) {}

  ExpressionId build() {
    std::vector<ExpressionId> parts = {ascii()};
    parts.push_back(bytes_from(1, 0xC0, 0x80, 0x800));
    parts.push_back(bytes_from(2, 0xE0, 0x800, 0x10000));
    parts.push_back(bytes_from(3, 0xF0, 0x10000, 0x110000));
    return expressions_.alternate(parts);
  }

 private:
  static char32_t values_of(int continuations) { return char32_t{1} << (6 * continuations); }

  // The first range that ends at `value` or above.
  auto range_at(char32_t value) const {
    return std::lower_bound(
        ranges_.begin(), ranges_.end(), value,
        [](const CodePointSet::Range& range, char32_t at) { return range.last < at; });
  }

  ExpressionId ascii() {
    ByteSet set;
    for (char32_t value = 0; value < 0x80; ++value) {
      const auto range = range_at(value);
      if (range != ranges_.end() && range->first <= value) set.add(static_cast<uint8_t>(value));
    }
    return expressions_.bytes(set);
  }

  // Code points in [begin, end) whose first byte is `mark` + the bits above those of
  // `continuations` bytes.
  ExpressionId bytes_from(int continuations, uint8_t mark, char32_t begin, char32_t end) {
    std::map<ExpressionId, ByteSet> leads;
    const char32_t step = values_of(continuations);
    for (char32_t value = begin / step * step; value < end; value += step) {
      const char32_t low = std::max(value, begin);
      add_lead(leads, static_cast<uint8_t>(mark + value / step), low, value, continuations);
    }
    return join(leads);
  }

  void add_lead(std::map<ExpressionId, ByteSet>& leads, uint8_t byte, char32_t low, char32_t value,
                int continuations) {
    const ExpressionId rest = continuation(low, value, continuations);
    if (rest != expressions_.none()) leads[rest].add(byte);
  }

  // The last `count` bytes of the code points from `low` on in [value, value + 64^count).
  ExpressionId continuation(char32_t low, char32_t value, int count) {
    const char32_t last = value + values_of(count) - 1;
    const auto range = range_at(low);
    if (range == ranges_.end() || range->first > last) return expressions_.none();
    if (count == 0) return expressions_.epsilon();
    if (low == value && range->first <= value && range->last >= last) return full(count);
    std::map<ExpressionId, ByteSet> leads;
    const char32_t step = values_of(count - 1);
    for (char32_t i = 0; i < 64; ++i) {
      const char32_t at = value + i * step;
      if (at + step <= low) continue;
      add_lead(leads, static_cast<uint8_t>(0x80 + i), std::max(at, low), at, count - 1);
    }
    return join(leads);
  }

  ExpressionId full(int count) {
    return expressions_.repeat(expressions_.bytes(ByteSet::range(0x80, 0xBF)),
                               static_cast<uint32_t>(count), static_cast<uint32_t>(count));
  }

  ExpressionId join(const std::map<ExpressionId, ByteSet>& leads) {
    std::vector<ExpressionId> parts;
    for (const auto& [rest, set] : leads) {
      parts.push_back(expressions_.concatenate(expressions_.bytes(set), rest));
    }
    return expressions_.alternate(parts);
  }

  Expressions& expressions_;
  std::span<const CodePointSet::Range> ranges_;
};

}  // namespace

CodePointSet::CodePointSet(std::initializer_list<Range> ranges) {
  for (const Range& range : ranges) add(range.first, range.last);
}

CodePointSet CodePointSet::all() { return CodePointSet().complement(); }

const CodePointSet& CodePointSet::category(std::string_view name) {
  // Computed at the first use: it takes some milliseconds.
  static const std::map<std::string_view, CodePointSet> categories = all_categories();
  const auto known = categories.find(name);
  require(known != categories.end(), "{} is no general category of Unicode", quoted(name));
  return known->second;
}

void CodePointSet::add(char32_t first, char32_t last) {
  if (first <= kLastSurrogate && last >= kFirstSurrogate) {
    if (first < kFirstSurrogate) add(first, kFirstSurrogate - 1);
    if (last <= kLastSurrogate) return;
    first = std::max(first, char32_t{kLastSurrogate + 1});
  }
  // The ranges that touch the new one are replaced by their union.
  auto begin =
      std::lower_bound(ranges_.begin(), ranges_.end(), first,
                       [](const Range& range, char32_t value) { return range.last + 1 < value; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  begin = ranges_.erase(begin, end);
  ranges_.insert(begin, {first, last});
}

void CodePointSet::add(const CodePointSet& other) {
  if (other.ranges_.size() == 1) return add(other.ranges_[0].first, other.ranges_[0].last);
  std::vector<Range> all = std::move(ranges_);
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  *this = of(std::move(all));
}

CodePointSet CodePointSet::of(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  CodePointSet result;
  for (const Range& range : ranges) result.add(range.first, range.last);  // at the end
  return result;
}

CodePointSet CodePointSet::complement() const {
  CodePointSet result;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) result.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kLast) result.add(next, kLast);
  return result;
}

CodePointSet CodePointSet::with_other_cases() const {
  static const std::map<char32_t, std::vector<char32_t>> others = other_cases();
  std::vector<Range> all = ranges_;
  for (const Range& range : ranges_) {
    for (auto at = others.lower_bound(range.first); at != others.end() && at->first <= range.last;
         ++at) {
      for (const char32_t each : at->second) all.push_back({each, each});
    }
  }
  return of(std::move(all));
}

bool CodePointSet::contains(char32_t value) const {
  const auto range =
      std::lower_bound(ranges_.begin(), ranges_.end(), value,
                       [](const Range& each, char32_t at) { return each.last < at; });
  return range != ranges_.end() && range->first <= value;
}

ExpressionId utf8(Expressions& expressions, const CodePointSet& set) {
  const std::span<const CodePointSet::Range> ranges = set.ranges();
  if (ranges.size() == 1 && ranges[0].first == ranges[0].last) {
    std::string text;
    append_utf8(text, ranges[0].first);
    return expressions.literal(text);
  }
  return Utf8Builder(expressions, set.ranges()).build();
}

}  // namespace heed::constrain
