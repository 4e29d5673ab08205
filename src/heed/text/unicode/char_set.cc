#include "heed/text/unicode/char_set.h"

#include <algorithm>

#include "heed/text/unicode/number_reader.h"

namespace heed::text {
namespace {

constexpr size_t kPages = (CodePointRanges::kLast + 1) / 256;

}  // namespace

CodePointRanges CodePointRanges::from_table(std::string_view edges) {
  CodePointRanges result;
  tables::NumberReader numbers(edges);
  for (char32_t edge = 0; !numbers.done();) {
    const char32_t first = edge + numbers.next();
    edge = first + numbers.next();
    result.ranges_.push_back({first, edge - 1});
  }
  return result;
}

CodePointRanges CodePointRanges::all() { return CodePointRanges().inverted(); }

void CodePointRanges::add(char32_t first, char32_t last) {
  if (!ranges_.empty() && first > ranges_.back().last + 1 && first <= last && last <= kLast) {
    ranges_.push_back({first, last});  // tables are read in order
    return;
  }
  CodePointRanges one;
  one.ranges_.push_back({first, std::min(last, kLast)});
  add(one);
}

void CodePointRanges::add(const CodePointRanges& other) {
  std::vector<Range> both;
  both.reserve(ranges_.size() + other.ranges_.size());
  std::merge(ranges_.begin(), ranges_.end(), other.ranges_.begin(), other.ranges_.end(),
             std::back_inserter(both), [](Range a, Range b) { return a.first < b.first; });
  ranges_.clear();
  for (const Range range : both) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1)
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    else
      ranges_.push_back(range);
  }
}

CodePointRanges CodePointRanges::inverted() const {
  CodePointRanges result;
  char32_t next = 0;
  for (const Range range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) result.ranges_.push_back({next, kLast});
  return result;
}

CodePointRanges CodePointRanges::intersected(const CodePointRanges& other) const {
  CodePointRanges outside = inverted();
  outside.add(other.inverted());
  return outside.inverted();
}

CharSet::CharSet(const CodePointRanges& ranges) : index_(kPages, 0), pages_(1, Page{}) {
  Page current{};
  char32_t number = 0;  // of the current page
  const auto finish_page = [&] {
    // A page is often equal to its neighbour or empty (the first page); those are shared.
    if (current != pages_[0]) {
      if (current != pages_.back()) pages_.push_back(current);
      index_[number] = static_cast<uint16_t>(pages_.size() - 1);
    }
    current = {};
  };
  for (const auto& range : ranges.ranges())
    for (char32_t word = range.first >> 6; word <= range.last >> 6; ++word) {
      if (word >> 2 != number) finish_page();
      number = word >> 2;
      const char32_t from = std::max<char32_t>(range.first, word << 6) & 63;
      const char32_t to = std::min<char32_t>(range.last, (word << 6) + 63) & 63;
      current[word & 3] |= (~uint64_t{0} << from) & (~uint64_t{0} >> (63 - to));
    }
  finish_page();
}

}  // namespace heed::text
