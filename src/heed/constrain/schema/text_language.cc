#include "heed/constrain/schema/text_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "heed/constrain/regex.h"

namespace heed::constrain {
namespace {

constexpr char32_t kControls = 0x20;  // the code points below it are escaped

/// How JSON spells a code point that it escapes.
std::string escape_json(char32_t point) {
  static constexpr std::array<std::pair<char32_t, char>, 7> kShort = {
      {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};
  for (const auto& [value, letter] : kShort) {
    if (value == point) return {'\\', letter};
  }
  return fmt::format("\\u{:04x}", static_cast<uint32_t>(point));
}

bool needs_escape(char32_t point) { return point < kControls || point == '"' || point == '\\'; }

ExpressionId spell_set(Expressions& expressions, const CodePointSet& set) {
  CodePointSet plain;
  std::vector<std::string> escapes;
  for (const auto [first, last] : set.ranges()) {
    char32_t begin = first;
    for (char32_t point = first; point <= std::min<char32_t>(last, '\\'); ++point) {
      if (!needs_escape(point)) continue;
      escapes.push_back(escape_json(point));
      if (begin < point) plain.add(begin, point - 1);
      begin = point + 1;
    }
    if (begin <= last) plain.add(begin, last);
  }
  const ExpressionId unescaped = utf8(expressions, plain);
  return escapes.empty() ? unescaped
                         : expressions.alternate(unescaped, expressions.one_of(std::move(escapes)));
}

}  // namespace

std::string spell_json(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (needs_escape(byte)) {
      result += escape_json(byte);
    } else {
      result += c;
    }
  }
  return result;
}

TextLanguage::TextLanguage(Expressions& expressions)
    : expressions_(expressions),
      character_(spell_set(expressions, CodePointSet::all())),
      all_(expressions.repeat(character_, 0, Expressions::kUnbounded)) {}

ExpressionId TextLanguage::literal(std::string_view text) {
  return expressions_.literal(spell_json(text));
}

ExpressionId TextLanguage::one_of(const std::vector<std::string>& texts) {
  std::vector<std::string> spellings;
  for (const std::string& text : texts) spellings.push_back(spell_json(text));
  return expressions_.one_of(std::move(spellings));
}

ExpressionId TextLanguage::of_length(uint32_t min, uint32_t max) {
  return expressions_.repeat(character_, min, max);
}

ExpressionId TextLanguage::matching(const std::string& pattern) { return compile(pattern, true); }

ExpressionId TextLanguage::of_pattern(const std::string& pattern) {
  return compile(pattern, false);
}

ExpressionId TextLanguage::compile(const std::string& pattern, bool search) {
  const auto known = patterns_.find({pattern, search});
  if (known != patterns_.end()) return known->second;
  const RegexOptions options{.dialect = RegexDialect::ecma, .search = search, .spell = spell_set};
  const ExpressionId result = compile_pattern(expressions_, pattern, options);
  patterns_.emplace(std::pair(pattern, search), result);
  return result;
}

ExpressionId TextLanguage::intersect(ExpressionId a, ExpressionId b) {
  if (a == all_) return b;
  if (b == all_) return a;
  return expressions_.intersect(a, b);
}

ExpressionId TextLanguage::unite(ExpressionId a, ExpressionId b) {
  if (a == all_ || b == all_) return all_;
  return expressions_.alternate(a, b);
}

ExpressionId TextLanguage::complement(ExpressionId set) {
  if (set == all_) return none();
  if (set == none()) return all_;
  return expressions_.intersect(all_, expressions_.complement(set));
}

bool TextLanguage::contains(ExpressionId set, std::string_view text) {
  return set == all_ || expressions_.matches(set, spell_json(text));
}

bool TextLanguage::is_empty(ExpressionId set) { return set != all_ && expressions_.is_empty(set); }

ExpressionId TextLanguage::all_spellings() {
  if (all_spellings_) return *all_spellings_;
  CodePointSet plain;
  plain.add(kControls, '!');
  plain.add('#', '[');
  plain.add(']', CodePointSet::kLast);
  RegexOptions options;
  const ExpressionId escape = compile_pattern(
      expressions_,
      R"re(\\(?:["\\/bfnrt]|u(?:[0-9A-Ca-cE-Fe-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|)re"
      R"re([Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})))re",
      options);
  all_spellings_ = expressions_.repeat(expressions_.alternate(utf8(expressions_, plain), escape), 0,
                                       Expressions::kUnbounded);
  return *all_spellings_;
}

}  // namespace heed::constrain
