#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/quote.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/grammar_reader.h"
#include "heed/constrain/lark_terminals.h"

namespace heed::constrain {
namespace {

constexpr int kMaxLarkNesting = 200;

// Reads a grammar of Lark. Priorities, aliases and marks that shape the tree are read and mean
// nothing here: they do not change which texts match.
class LarkParser {
 public:
  LarkParser(GrammarBuilder& builder, std::string_view text)
      : reader_(text, {"//", "#"}), builder_(builder) {
    builder.spend_on(text);
  }

  Symbol read() {
    reader_.skip_space(true);
    while (!reader_.at_end()) {
      parse_statement();
      if (!reader_.at_end() && reader_.peek() != '\n' && reader_.peek() != '\r') {
        reader_.fail_here("expected the end of the line");
      }
      reader_.skip_space(true);
    }
    const auto start = rules_.find("start");
    if (start == rules_.end()) reader_.fail_here("there is no rule named start");
    for (const auto& [name, rule] : rules_) {
      if (!rule.is_defined) reader_.fail_at(rule.position, quoted(name) + " is not defined");
    }
    for (const auto& [name, rule] : rules_) {
      if (is_terminal(name)) builder_.fold(rule.symbol);
    }
    for (const Symbol part : ignored_) builder_.ignore(builder_.fold(part));
    return start->second.symbol;
  }

 private:
  struct Rule {
    Symbol symbol;
    size_t position;  // of the first reference
    bool is_defined = false;
  };

  // Names of terminals are in upper case.
  static bool is_terminal(std::string_view name) {
    const size_t letter = name.find_first_not_of('_');
    return letter != name.npos && name[letter] >= 'A' && name[letter] <= 'Z';
  }

  std::string_view parse_name() {
    if (reader_.peek() >= '0' && reader_.peek() <= '9') return {};
    return reader_.name("_");
  }

  Rule& rule_of(std::string_view name, size_t position) {
    const auto known = rules_.find(name);
    if (known != rules_.end()) return known->second;
    const Rule rule = {builder_.declare(std::string(name)), position};
    return rules_.emplace(std::string(name), rule).first->second;
  }

  void define(std::string_view name, size_t position, Symbol body) {
    Rule& rule = rule_of(name, position);
    if (rule.is_defined) reader_.fail_at(position, quoted(name) + " is defined twice");
    rule.is_defined = true;
    builder_.define(rule.symbol, body);
  }

  void parse_statement() {
    if (reader_.peek() == '%') return parse_directive();
    while (reader_.skip("?") || reader_.skip("!")) {
    }
    const size_t begin = reader_.position();
    const std::string_view name = parse_name();
    if (name.empty()) reader_.fail_here("expected a rule, a terminal or a directive");
    if (reader_.peek() == '{') reader_.fail_here("templates are not supported");
    if (reader_.skip(".")) {
      reader_.skip("-");
      if (!reader_.number()) reader_.fail_here("expected a priority");
    }
    reader_.skip_space(false);
    reader_.expect(":");
    in_terminal_ = is_terminal(name);
    define(name, begin, parse_choice(0));
  }

  void parse_directive() {
    const size_t begin = reader_.position();
    if (reader_.skip("%ignore")) {
      in_terminal_ = true;
      ignored_.push_back(parse_choice(0));
    } else if (reader_.skip("%import")) {
      parse_import();
    } else {
      reader_.skip("%");
      reader_.fail_at(begin, "%" + std::string(reader_.name("_")) + " is not supported");
    }
  }

  // "common.WS", "common.WS -> SPACE", "common (WS, INT)"
  void parse_import() {
    reader_.skip_space(false);
    const size_t begin = reader_.position();
    if (!reader_.skip("common")) reader_.fail_at(begin, "only common can be imported from");
    reader_.skip_space(false);
    if (reader_.skip("(")) {
      do {
        reader_.skip_space(true);
        const size_t position = reader_.position();
        const std::string_view name = parse_name();
        import_common(name, name, position);
        reader_.skip_space(true);
      } while (reader_.skip(","));
      return reader_.expect(")");
    }
    reader_.expect(".");
    const size_t position = reader_.position();
    const std::string_view name = parse_name();
    std::string_view alias = name;
    reader_.skip_space(false);
    if (reader_.skip("->")) {
      reader_.skip_space(false);
      alias = parse_name();
    }
    import_common(name, alias, position);
  }

  void import_common(std::string_view name, std::string_view alias, size_t position) {
    const std::optional<ExpressionId> terminal = terminals_.common(name);
    if (!terminal || !is_terminal(alias)) {
      reader_.fail_at(position, "common has no terminal " + quoted(name));
    }
    define(alias, position, builder_.terminal(*terminal));
  }

  Symbol parse_choice(int nesting) {
    if (nesting > kMaxLarkNesting) reader_.fail_here("groups are nested too deeply");
    std::vector<Symbol> alternatives;
    do {
      alternatives.push_back(parse_sequence(nesting));
    } while (reader_.skip_alternative_mark());
    return builder_.choice(std::move(alternatives));
  }

  Symbol parse_sequence(int nesting) {
    std::vector<Symbol> parts;
    while (true) {
      reader_.skip_space(nesting > 0);
      if (reader_.skip("->")) {
        reader_.skip_space(false);
        if (parse_name().empty()) reader_.fail_here("expected the name of an alias");
        reader_.skip_space(nesting > 0);
        return builder_.sequence(std::move(parts));
      }
      const std::optional<Symbol> part = parse_atom(nesting);
      if (!part) return builder_.sequence(std::move(parts));
      parts.push_back(parse_repetitions(*part));
    }
  }

  // Nothing where none begins.
  std::optional<Symbol> parse_atom(int nesting) {
    const size_t begin = reader_.position();
    switch (reader_.peek()) {
      case '"':
        return builder_.terminal(terminals_.parse_literal());
      case '/':
        return builder_.terminal(terminals_.parse_pattern());
      case '(':
        reader_.skip("(");
        return parse_group(nesting, begin, ")");
      case '[':
        reader_.skip("[");
        return builder_.optional(parse_group(nesting, begin, "]"));
      case '<':
        reader_.fail_here("special tokens are not supported");
      case '%':
        reader_.fail_here("directives inside a rule are not supported");
      default:
        break;
    }
    const std::string_view name = parse_name();
    if (name.empty()) return std::nullopt;
    if (reader_.peek() == '{') check_no_template(begin);
    if (in_terminal_ && !is_terminal(name)) {
      reader_.fail_at(begin, "a terminal cannot refer to the rule " + quoted(name));
    }
    return rule_of(name, begin).symbol;
  }

  // name{2,3} is a repetition, name{other} a template.
  void check_no_template(size_t begin) {
    const size_t brace = reader_.position();
    reader_.skip("{");
    reader_.skip_space(false);
    if (!reader_.number() && reader_.peek() != ',') {
      reader_.fail_at(begin, "templates are not supported");
    }
    reader_.go_to(brace);
  }

  Symbol parse_group(int nesting, size_t begin, std::string_view end) {
    const Symbol group = parse_choice(nesting + 1);
    reader_.skip_space(true);
    if (!reader_.skip(end)) reader_.fail_at(begin, "a bracket that is not closed");
    return group;
  }

  Symbol parse_repetitions(Symbol part) {
    while (true) {
      const size_t begin = reader_.position();
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
        reader_.skip_space(false);
        if (!reader_.skip("~")) {
          reader_.go_to(begin);
          return part;
        }
        part = parse_tilde(part);
      }
    }
  }

  // Behind ~: "2" or "2..3".
  Symbol parse_tilde(Symbol part) {
    reader_.skip_space(false);
    const size_t begin = reader_.position();
    const std::optional<uint32_t> min = reader_.number();
    if (!min) reader_.fail_here("expected a number");
    std::optional<uint32_t> max = min;
    if (reader_.skip("..")) max = reader_.number();
    if (!max || *max < *min) reader_.fail_at(begin, "expected a number of at least the first");
    return builder_.repeat(part, *min, *max);
  }

  GrammarReader reader_;
  GrammarBuilder& builder_;
  LarkTerminals terminals_{reader_, builder_.expressions()};
  std::map<std::string, Rule, std::less<>> rules_;
  std::vector<Symbol> ignored_;
  bool in_terminal_ = false;
};

}  // namespace

Symbol add_lark(GrammarBuilder& builder, std::string_view text) {
  return LarkParser(builder, text).read();
}

}  // namespace heed::constrain
