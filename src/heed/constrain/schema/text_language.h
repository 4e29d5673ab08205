#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/code_points.h"
#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// Sets of strings, as expressions of how JSON spells them, without the quotes. Each string has one
/// spelling, that of Python's json.dumps(ensure_ascii=False): an escape where JSON requires one, \n
/// rather than \u000a. So intersections and complements of spellings are those of the strings.
class TextLanguage {
 public:
  explicit TextLanguage(Expressions& expressions);

  /// Every string, and none.
  ExpressionId all() const { return all_; }
  ExpressionId none() const { return expressions_.none(); }
  ExpressionId literal(std::string_view text);
  ExpressionId one_of(const std::vector<std::string>& texts);
  /// Strings of `min` to `max` code points; kUnbounded: no limit.
  ExpressionId of_length(uint32_t min, uint32_t max);
  /// Strings in which the regular expression (ECMA-262) finds a match. Throws Error as
  /// compile_pattern() does.
  ExpressionId matching(const std::string& pattern);
  /// Strings that the regular expression matches as a whole.
  ExpressionId of_pattern(const std::string& pattern);

  ExpressionId intersect(ExpressionId a, ExpressionId b);
  ExpressionId unite(ExpressionId a, ExpressionId b);
  ExpressionId complement(ExpressionId set);
  bool contains(ExpressionId set, std::string_view text);
  bool is_empty(ExpressionId set);

  /// Every string in every spelling that JSON allows, without quotes.
  ExpressionId all_spellings();

 private:
  Expressions& expressions_;
  ExpressionId character_, all_;
  std::optional<ExpressionId> all_spellings_;
  ExpressionId compile(const std::string& pattern, bool search);

  std::map<std::pair<std::string, bool>, ExpressionId> patterns_;
};

/// `text` as TextLanguage spells it.
std::string spell_json(std::string_view text);

}  // namespace heed::constrain
