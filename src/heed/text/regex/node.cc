#include "heed/text/regex/node.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>

namespace heed::text {
namespace {

/// What code points of one letter in different cases (and K, ſ) have in common.
char32_t folded(char32_t value) {
  return static_cast<char32_t>(
      utf8proc_tolower(utf8proc_toupper(static_cast<utf8proc_int32_t>(value))));
}

using Cases = std::map<char32_t, std::vector<char32_t>>;

Cases letters_with_cases() {
  constexpr char32_t kLastWithCase = 0x1E943;
  Cases cases;
  for (char32_t value = 0; value <= kLastWithCase; ++value) {
    const char32_t letter = folded(value);
    if (letter != value) cases[letter].push_back(value);
  }
  return cases;
}

}  // namespace

void add_other_cases(CodePointRanges& set) {
  static const Cases cases = letters_with_cases();
  const CharSet members(set);
  for (const auto& [letter, others] : cases) {
    const auto in_set = [&](char32_t value) { return members.contains(value); };
    if (!in_set(letter) && !std::any_of(others.begin(), others.end(), in_set)) continue;
    set.add(letter, letter);
    for (const char32_t other : others) set.add(other, other);
  }
}

bool can_be_empty(const RegexNode& node) {
  using Kind = RegexNode::Kind;
  const auto empty = [](const RegexNode& child) { return can_be_empty(child); };
  switch (node.kind) {
    case Kind::set:
      return false;
    case Kind::sequence:
      return std::all_of(node.children.begin(), node.children.end(), empty);
    case Kind::alternatives:
      return std::any_of(node.children.begin(), node.children.end(), empty);
    case Kind::repeat:
      return node.least == 0 || empty(node.children[0]);
    case Kind::atomic:
      return empty(node.children[0]);
    default:
      return true;
  }
}

std::optional<uint32_t> fixed_length(const RegexNode& node) {
  using Kind = RegexNode::Kind;
  constexpr uint64_t kLongest = 1000;
  uint64_t total = 0;
  switch (node.kind) {
    case Kind::set:
      return 1;
    case Kind::sequence:
      for (const RegexNode& child : node.children) {
        const auto length = fixed_length(child);
        if (!length) return std::nullopt;
        total += *length;
      }
      break;
    case Kind::alternatives:
      for (const RegexNode& child : node.children)
        if (fixed_length(child) != fixed_length(node.children[0])) return std::nullopt;
      return fixed_length(node.children[0]);
    case Kind::repeat: {
      const auto length = fixed_length(node.children[0]);
      if (!length || node.least != node.most) return std::nullopt;
      total = uint64_t{*length} * node.least;
      break;
    }
    case Kind::atomic:
      return fixed_length(node.children[0]);
    default:
      return 0;
  }
  if (total > kLongest) return std::nullopt;
  return static_cast<uint32_t>(total);
}

}  // namespace heed::text
