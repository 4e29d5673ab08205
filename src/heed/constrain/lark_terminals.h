#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "heed/constrain/expressions.h"
#include "heed/constrain/grammar_reader.h"
#include "heed/constrain/regex.h"

namespace heed::constrain {

/// The terminals of Lark's grammars: literals, regular expressions and those of its library.
class LarkTerminals {
 public:
  LarkTerminals(GrammarReader& reader, Expressions& expressions)
      : reader_(reader), expressions_(expressions) {}

  /// At a quote: "text", "text"i or "a".."z".
  ExpressionId parse_literal();
  /// At a slash: /pattern/ with flags. A look-ahead in it sees the text of the terminal alone.
  ExpressionId parse_pattern();
  /// A terminal that `%import common` finds, such as INT; nothing for an unknown name.
  std::optional<ExpressionId> common(std::string_view name);

 private:
  std::vector<char32_t> parse_string();
  char32_t parse_escape();
  ExpressionId python_pattern(std::string_view pattern, RegexOptions options);

  GrammarReader& reader_;
  Expressions& expressions_;
};

}  // namespace heed::constrain
