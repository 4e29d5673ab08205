#include "heed/constrain/lark_terminals.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "heed/constrain/code_points.h"

namespace heed::constrain {
namespace {

// What `%import common` finds, as patterns of Python. Those of strings and comments say what Lark's
// lexer matches with lazy quantifiers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 25> kCommonTerminals = {{
    {"DIGIT", "[0-9]"},
    {"HEXDIGIT", "[0-9a-fA-F]"},
    {"INT", "[0-9]+"},
    {"SIGNED_INT", "[+-]?[0-9]+"},
    {"DECIMAL", R"([0-9]+\.[0-9]*|\.[0-9]+)"},
    {"FLOAT", R"([0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)"},
    {"SIGNED_FLOAT", R"([+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?))"},
    {"NUMBER", R"(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)"},
    {"SIGNED_NUMBER", R"([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)"},
    {"ESCAPED_STRING", R"("([^"\\\n]|\\[^\n])*")"},
    {"LCASE_LETTER", "[a-z]"},
    {"UCASE_LETTER", "[A-Z]"},
    {"LETTER", "[a-zA-Z]"},
    {"WORD", "[a-zA-Z]+"},
    {"CNAME", "[_a-zA-Z][_a-zA-Z0-9]*"},
    {"WS_INLINE", R"([ \t]+)"},
    {"WS", R"([ \t\f\r\n]+)"},
    {"CR", R"(\r)"},
    {"LF", R"(\n)"},
    {"NEWLINE", R"((\r?\n)+)"},
    {"SH_COMMENT", R"(#[^\n]*)"},
    {"CPP_COMMENT", R"(//[^\n]*)"},
    {"C_COMMENT", R"(/\*([^*]|\*+[^*/])*\*+/)"},
    {"SQL_COMMENT", R"(--[^\n]*)"},
    {"PYTHON_COMMENT", R"(#[^\n]*)"},
}};

}  // namespace

ExpressionId LarkTerminals::parse_literal() {
  const std::vector<char32_t> text = parse_string();
  const bool ignores_case = reader_.skip("i");
  const size_t begin = reader_.position();
  if (reader_.skip("..")) {
    const std::vector<char32_t> last = parse_string();
    if (text.size() != 1 || last.size() != 1 || last[0] < text[0]) {
      reader_.fail_at(begin, "expected a range of two characters");
    }
    return utf8(expressions_, {{text[0], last[0]}});
  }
  std::vector<ExpressionId> characters;
  for (const char32_t value : text) {
    const CodePointSet set = {{value, value}};
    characters.push_back(utf8(expressions_, ignores_case ? set.with_other_cases() : set));
  }
  return expressions_.concatenate(characters);
}

std::vector<char32_t> LarkTerminals::parse_string() {
  const size_t begin = reader_.position();
  reader_.expect("\"");
  std::vector<char32_t> text;
  while (!reader_.skip("\"")) {
    if (reader_.at_end() || reader_.peek() == '\n') {
      reader_.fail_at(begin, "a quote that is not closed");
    }
    char32_t value = reader_.next();
    if (value == '\\') value = parse_escape();
    text.push_back(value);
  }
  return text;
}

char32_t LarkTerminals::parse_escape() {
  const char32_t letter = reader_.next();
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'x':
      return reader_.hexadecimal(2);
    case 'u':
      return reader_.hexadecimal(4);
    case 'U':
      return reader_.hexadecimal(8);
    case '"':
    case '\\':
    case '/':
      return letter;
    default:
      reader_.fail_here("an escape that is not supported");
  }
}

ExpressionId LarkTerminals::parse_pattern() {
  const size_t begin = reader_.position();
  reader_.skip("/");
  const size_t pattern_begin = reader_.position();
  while (reader_.peek() != '/') {
    if (reader_.at_end() || reader_.peek() == '\n') {
      reader_.fail_at(begin, "a regular expression that is not closed");
    }
    if (reader_.next() == '\\') reader_.next();
  }
  const std::string_view pattern = reader_.text(pattern_begin, reader_.position());
  reader_.skip("/");
  RegexOptions options;
  for (const char flag : reader_.name("")) {
    if (flag == 'i') options.ignore_case = true;
    if (flag == 's') options.dot_all = true;
    if (flag != 'i' && flag != 's' && flag != 'u') {
      reader_.fail_at(begin, std::string("the flag ") + flag + " is not supported");
    }
  }
  return python_pattern(pattern, options);
}

ExpressionId LarkTerminals::python_pattern(std::string_view pattern, RegexOptions options) {
  options.dialect = RegexDialect::python;
  return compile_pattern(expressions_, pattern, options);
}

std::optional<ExpressionId> LarkTerminals::common(std::string_view name) {
  const auto known =
      std::ranges::find(kCommonTerminals, name, [](const auto& each) { return each.first; });
  if (known == kCommonTerminals.end()) return std::nullopt;
  return python_pattern(known->second, {});
}

}  // namespace heed::constrain
