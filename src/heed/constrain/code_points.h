#pragma once

#include <compare>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// A set of Unicode code points, surrogates excluded, as ranges.
class CodePointSet {
 public:
  static constexpr char32_t kLast = 0x10FFFF;
  struct Range {
    char32_t first, last;  // both belong to it
    auto operator<=>(const Range&) const = default;
  };

  CodePointSet() = default;
  CodePointSet(std::initializer_list<Range> ranges);
  static CodePointSet all();
  /// The code points of a general category of Unicode: "Lu", or a group of them, "L". Throws Error
  /// for an unknown name.
  static const CodePointSet& category(std::string_view name);

  /// The members of ranges in any order, in time for sorting them.
  static CodePointSet of(std::vector<Range> ranges);

  void add(char32_t first, char32_t last);
  void add(const CodePointSet& other);
  CodePointSet complement() const;
  /// With the code points that differ from a member in case alone: to k also K and U+212A.
  CodePointSet with_other_cases() const;
  bool contains(char32_t value) const;
  bool empty() const { return ranges_.empty(); }
  auto operator<=>(const CodePointSet&) const = default;
  /// Ascending; no two touch.
  std::span<const Range> ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

/// The UTF-8 of any one code point of `set`.
ExpressionId utf8(Expressions& expressions, const CodePointSet& set);

}  // namespace heed::constrain
