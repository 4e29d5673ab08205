#include "heed/document/sentences/sentence_break.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "heed/text/unicode/char_set.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

using text::CharSet, text::CodePointRanges;
using Range = CodePointRanges::Range;

CodePointRanges ranges_of(std::span<const Range> ranges) {
  CodePointRanges all;
  for (const auto& [first, last] : ranges) all.add(first, last);
  return all;
}

/// Sentence_Break=STerm of Unicode 14 beyond ASCII, as Perl's \p{SB=ST} lists it.
constexpr Range kTerminators[] = {
    {0x589, 0x589},     {0x61D, 0x61F},     {0x6D4, 0x6D4},     {0x700, 0x702},
    {0x7F9, 0x7F9},     {0x837, 0x837},     {0x839, 0x839},     {0x83D, 0x83E},
    {0x964, 0x965},     {0x104A, 0x104B},   {0x1362, 0x1362},   {0x1367, 0x1368},
    {0x166E, 0x166E},   {0x1735, 0x1736},   {0x1803, 0x1803},   {0x1809, 0x1809},
    {0x1944, 0x1945},   {0x1AA8, 0x1AAB},   {0x1B5A, 0x1B5B},   {0x1B5E, 0x1B5F},
    {0x1B7D, 0x1B7E},   {0x1C3B, 0x1C3C},   {0x1C7E, 0x1C7F},   {0x203C, 0x203D},
    {0x2047, 0x2049},   {0x2E2E, 0x2E2E},   {0x2E3C, 0x2E3C},   {0x2E53, 0x2E54},
    {0x3002, 0x3002},   {0xA4FF, 0xA4FF},   {0xA60E, 0xA60F},   {0xA6F3, 0xA6F3},
    {0xA6F7, 0xA6F7},   {0xA876, 0xA877},   {0xA8CE, 0xA8CF},   {0xA92F, 0xA92F},
    {0xA9C8, 0xA9C9},   {0xAA5D, 0xAA5F},   {0xAAF0, 0xAAF1},   {0xABEB, 0xABEB},
    {0xFE56, 0xFE57},   {0xFF01, 0xFF01},   {0xFF1F, 0xFF1F},   {0xFF61, 0xFF61},
    {0x10A56, 0x10A57}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x11047, 0x11048},
    {0x110BE, 0x110C1}, {0x11141, 0x11143}, {0x111C5, 0x111C6}, {0x111CD, 0x111CD},
    {0x111DE, 0x111DF}, {0x11238, 0x11239}, {0x1123B, 0x1123C}, {0x112A9, 0x112A9},
    {0x1144B, 0x1144C}, {0x115C2, 0x115C3}, {0x115C9, 0x115D7}, {0x11641, 0x11642},
    {0x1173C, 0x1173E}, {0x11944, 0x11944}, {0x11946, 0x11946}, {0x11A42, 0x11A43},
    {0x11A9B, 0x11A9C}, {0x11C41, 0x11C42}, {0x11EF7, 0x11EF8}, {0x16A6E, 0x16A6F},
    {0x16AF5, 0x16AF5}, {0x16B37, 0x16B38}, {0x16B44, 0x16B44}, {0x16E98, 0x16E98},
    {0x1BC9F, 0x1BC9F}, {0x1DA88, 0x1DA88}};

/// Sentence_Break=SContinue without dashes.
constexpr Range kCommas[] = {{',', ','},       {':', ':'},       {';', ';'},       {0x55D, 0x55D},
                             {0x60C, 0x60D},   {0x61B, 0x61B},   {0x7F8, 0x7F8},   {0x1802, 0x1802},
                             {0x1808, 0x1808}, {0x3001, 0x3001}, {0xFE10, 0xFE11}, {0xFE13, 0xFE13},
                             {0xFE50, 0xFE51}, {0xFE55, 0xFE55}, {0xFF0C, 0xFF0C}, {0xFF1A, 0xFF1B},
                             {0xFF64, 0xFF64}};

constexpr Range kSpaces[] = {{'\t', '\t'}, {0x0B, 0x0C}, {0x200B, 0x200B}};  // beside Zs
constexpr Range kAsciiTerminators[] = {{'!', '!'}, {'?', '?'}};
constexpr Range kFullStops[] = {{'.', '.'}, {0x2024, 0x2026}, {0xFE52, 0xFE52}, {0xFF0E, 0xFF0E}};
constexpr Range kQuotes[] = {{'"', '"'}, {'\'', '\''}, {0xFF02, 0xFF02}, {0xFF07, 0xFF07}};
constexpr Range kLineEnds[] = {{'\n', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}};

CodePointRanges category(const char* name) { return text::property_named(name).value(); }

/// The classes of all code points: a table of pages.
class BreakTable {
 public:
  BreakTable() {
    using enum SentenceBreak;
    set(category("M"), extend);
    set(category("Cf"), extend);
    set(category("Lo"), letter);
    set(category("Lm"), letter);
    set(category("Nl"), letter);
    set(category("Lu"), upper);
    set(category("Lt"), upper);
    set(category("Ll"), lower);
    set(category("Nd"), number);
    set(category("Zs"), space);
    set(ranges_of(kSpaces), space);
    set(category("Ps"), opening);
    set(category("Pi"), opening);
    set(category("Pe"), closing);
    set(category("Pf"), closing);
    set(ranges_of(kQuotes), quote);
    set(ranges_of(kCommas), comma);
    set(ranges_of(kTerminators), terminator);
    set(ranges_of(kAsciiTerminators), terminator);
    set(ranges_of(kFullStops), full_stop);
    set(ranges_of(kLineEnds), line_end);
  }

  SentenceBreak operator[](char32_t value) const {
    return pages_[index_[value >> kPageBits]][value & (kPageSize - 1)];
  }

 private:
  static constexpr int kPageBits = 8;
  static constexpr size_t kPageSize = size_t{1} << kPageBits;

  void set(const CodePointRanges& ranges, SentenceBreak value) {
    for (const auto& [first, last] : ranges.ranges())
      for (char32_t point = first; point <= last; ++point) {
        uint16_t& page = index_[point >> kPageBits];
        if (page == 0) {
          page = static_cast<uint16_t>(pages_.size());
          pages_.emplace_back();
        }
        pages_[page][point & (kPageSize - 1)] = value;
      }
  }

  std::array<uint16_t, (CodePointRanges::kLast >> kPageBits) + 1> index_{};
  std::vector<std::array<SentenceBreak, kPageSize>> pages_ = {{}};  // the first: all `other`
};

}  // namespace

SentenceBreak sentence_break(char32_t value) {
  static const BreakTable table;
  return table[value];
}

bool is_wide_terminator(char32_t value) {
  return value > 0x7F && sentence_break(value) == SentenceBreak::terminator;
}

bool is_ideographic(char32_t value) {
  constexpr char32_t kProlongedSound = 0x30FC;  // of Katakana and Hiragana
  static const CharSet set = [] {
    CodePointRanges ranges;
    for (const char* script : {"han", "hiragana", "katakana"}) ranges.add(category(script));
    ranges.add(kProlongedSound, kProlongedSound);
    return CharSet(ranges);
  }();
  return value > 0x7F && set.contains(value);
}

std::string in_lower_case(std::string_view text) {
  std::string lower;
  text::for_each_code_point(text, [&](const text::CodePoint& point, std::string_view) {
    text::append_lower_case(lower, point.value);
  });
  return lower;
}

size_t TextView::skip_spaces(size_t position, size_t end) const {
  while (position < end && break_at(position) == SentenceBreak::space) position = next(position);
  return position;
}

size_t TextView::trim_spaces(size_t begin, size_t end) const {
  while (end > begin && break_at(previous(end)) == SentenceBreak::space) end = previous(end);
  return end;
}

}  // namespace heed::document
