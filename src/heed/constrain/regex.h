#pragma once

#include <functional>
#include <string_view>

#include "heed/constrain/code_points.h"
#include "heed/constrain/expressions.h"

namespace heed::constrain {

enum class RegexDialect {
  ecma,    // ECMA-262 with the flag u, as JSON Schema's `pattern`
  python,  // the common part of Python's `re`
};

struct RegexOptions {
  RegexDialect dialect = RegexDialect::ecma;
  /// Whether text may stand before and behind the match, as with ECMA-262's test() and Python's
  /// search(); otherwise the pattern matches the whole text.
  bool search = false;
  bool ignore_case = false;
  bool dot_all = false;  // "." matches line ends, too
  /// The bytes that stand for any one code point of a set; if empty, its UTF-8. For JSON strings
  /// it includes the escapes. Each code point must have the same bytes in all sets.
  std::function<ExpressionId(Expressions&, const CodePointSet&)> spell = {};
};

/// The texts that `pattern` matches. Throws Error, with the position, for broken syntax and for
/// what is not regular or not supported: back-references, look-behind, \b, flags within a pattern
/// (but for (?i) and (?s) at the beginning of one of Python).
ExpressionId compile_pattern(Expressions& expressions, std::string_view pattern,
                             const RegexOptions& options = {});

}  // namespace heed::constrain
