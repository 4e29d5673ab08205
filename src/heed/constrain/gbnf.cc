#include <map>
#include <string>
#include <vector>

#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/constrain/code_points.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/grammar_reader.h"

namespace heed::constrain {
namespace {

// Nesting of groups.
constexpr int kMaxGbnfNesting = 200;

// Reads llama.cpp's GBNF. More is allowed than there: left recursion, _ in names, and an
// alternative that begins on a line of its own with |.
class GbnfParser {
 public:
  GbnfParser(GrammarBuilder& builder, std::string_view text)
      : reader_(text, {"#"}), builder_(builder) {
    builder.spend_on(text);
  }

  Symbol read() {
    reader_.skip_space(true);
    while (!reader_.at_end()) parse_rule();
    const auto root = rules_.find("root");
    if (root == rules_.end() || !root->second.is_defined) {
      reader_.fail_here("there is no rule named root");
    }
    for (const auto& [name, rule] : rules_) {
      if (!rule.is_defined) {
        reader_.fail_at(rule.position, "the rule " + quoted(name) + " is not defined");
      }
    }
    builder_.fold_regular_parts();
    return root->second.symbol;
  }

 private:
  struct Rule {
    Symbol symbol;
    size_t position;  // of the first reference
    bool is_defined = false;
  };

  Rule& rule_of(std::string_view name, size_t position) {
    const auto known = rules_.find(name);
    if (known != rules_.end()) return known->second;
    const Rule rule = {builder_.declare(std::string(name)), position};
    return rules_.emplace(std::string(name), rule).first->second;
  }

  std::string_view parse_name() { return reader_.name("-_"); }

  void parse_rule() {
    const size_t begin = reader_.position();
    const std::string_view name = parse_name();
    if (name.empty()) reader_.fail_here("expected the name of a rule");
    Rule& rule = rule_of(name, begin);
    if (rule.is_defined) reader_.fail_at(begin, "the rule " + quoted(name) + " is defined twice");
    rule.is_defined = true;
    reader_.skip_space(false);
    reader_.expect("::=");
    reader_.skip_space(true);
    const Symbol body = parse_choice(0);
    builder_.define(rule.symbol, body);
    if (!reader_.at_end() && reader_.peek() != '\n' && reader_.peek() != '\r') {
      reader_.fail_here("expected the end of the line");
    }
    reader_.skip_space(true);
  }

  Symbol parse_choice(int nesting) {
    if (nesting > kMaxGbnfNesting) reader_.fail_here("groups are nested too deeply");
    std::vector<Symbol> alternatives = {parse_sequence(nesting)};
    while (reader_.skip_alternative_mark()) {
      reader_.skip_space(true);
      alternatives.push_back(parse_sequence(nesting));
    }
    return builder_.choice(std::move(alternatives));
  }

  Symbol parse_sequence(int nesting) {
    std::vector<Symbol> parts;
    while (true) {
      const size_t begin = reader_.position();
      switch (reader_.peek()) {
        case '"':
          parts.push_back(builder_.terminal(parse_literal()));
          break;
        case '[':
          parts.push_back(builder_.terminal(parse_class()));
          break;
        case '.':
          reader_.skip(".");
          parts.push_back(builder_.terminal(utf8(builder_.expressions(), CodePointSet::all())));
          break;
        case '(':
          parts.push_back(parse_group(nesting));
          break;
        case '<':
        case '!':
          reader_.fail_here("tokens in grammars are not supported");
        default: {
          const std::string_view name = parse_name();
          if (name.empty()) return builder_.sequence(std::move(parts));
          parts.push_back(rule_of(name, begin).symbol);
        }
      }
      parts.back() = parse_repetitions(parts.back(), nesting);
    }
  }

  Symbol parse_group(int nesting) {
    const size_t begin = reader_.position();
    reader_.skip("(");
    reader_.skip_space(true);
    const Symbol group = parse_choice(nesting + 1);
    reader_.skip_space(true);
    if (!reader_.skip(")")) reader_.fail_at(begin, "( without )");
    return group;
  }

  Symbol parse_repetitions(Symbol part, int nesting) {
    while (true) {
      reader_.skip_space(nesting > 0);
      if (reader_.skip("*")) {
        part = builder_.repeat(part, 0, GrammarBuilder::kUnbounded);
      } else if (reader_.skip("+")) {
        part = builder_.repeat(part, 1, GrammarBuilder::kUnbounded);
      } else if (reader_.skip("?")) {
        part = builder_.optional(part);
      } else if (reader_.skip("{")) {
        const auto [min, max] = reader_.counts();
        part = builder_.repeat(part, min, max);
      } else {
        return part;
      }
    }
  }

  char32_t parse_character() {
    const char32_t value = reader_.next();
    if (value != '\\') return value;
    const char32_t escaped = reader_.next();
    switch (escaped) {
      case 'x':
        return reader_.hexadecimal(2);
      case 'u':
        return reader_.hexadecimal(4);
      case 'U':
        return reader_.hexadecimal(8);
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'n':
        return '\n';
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
        return escaped;
      default:
        reader_.fail_here("an escape that is not supported");
    }
  }

  ExpressionId parse_literal() {
    const size_t begin = reader_.position();
    reader_.skip("\"");
    std::string text;
    while (!reader_.skip("\"")) {
      if (reader_.at_end()) reader_.fail_at(begin, "a quote that is not closed");
      const char32_t value = parse_character();
      if (CodePointSet({{value, value}}).empty()) reader_.fail_here("half of a surrogate pair");
      append_utf8(text, value);
    }
    return builder_.expressions().literal(text);
  }

  ExpressionId parse_class() {
    const size_t begin = reader_.position();
    reader_.skip("[");
    const bool is_negative = reader_.skip("^");
    std::vector<CodePointSet::Range> ranges;
    while (!reader_.skip("]")) {
      if (reader_.at_end()) reader_.fail_at(begin, "[ without ]");
      const char32_t first = parse_character();
      char32_t last = first;
      if (reader_.sees("-") && !reader_.sees("-]")) {
        reader_.skip("-");
        last = parse_character();
        if (last < first) reader_.fail_at(begin, "a range that ends before it begins");
      }
      ranges.push_back({first, last});
    }
    const CodePointSet set = CodePointSet::of(std::move(ranges));
    return utf8(builder_.expressions(), is_negative ? set.complement() : set);
  }

  GrammarReader reader_;
  GrammarBuilder& builder_;
  std::map<std::string, Rule, std::less<>> rules_;
};

}  // namespace

Symbol add_gbnf(GrammarBuilder& builder, std::string_view text) {
  return GbnfParser(builder, text).read();
}

}  // namespace heed::constrain
