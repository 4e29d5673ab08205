#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/grammar.h"
#include "heed/constrain/number_map.h"

namespace heed::constrain {
namespace {

using Part = Grammar::Part;

// What a rule and an item cost, relative to a node of an expression.
constexpr size_t kRuleSteps = 4, kItemSteps = 2;

// The rules that derive a string of good symbols alone: those lexemes for which `is_good` holds,
// and rules that belong to the result themselves.
template <typename IsGood>
std::vector<bool> rules_of_good_symbols(const Grammar& grammar, const IsGood& is_good) {
  struct Alternative {
    uint32_t rule;
    size_t open = 0;  // rules in it that are not known to be good
  };
  struct Use {
    size_t alternative, next;  // of the same rule: a position in uses plus 1
  };
  std::vector<Alternative> alternatives;
  std::vector<Use> uses;
  std::vector<size_t> last_use(grammar.rules.size());
  std::vector<bool> good(grammar.rules.size());
  std::vector<uint32_t> waiting;
  const auto found = [&](uint32_t rule) {
    if (!good[rule]) waiting.push_back(rule);
    good[rule] = true;
  };
  for (uint32_t rule = 0; rule < grammar.rules.size(); ++rule) {
    for (uint32_t item : grammar.rules[rule].alternatives) {
      Alternative alternative = {rule};
      bool possible = true;
      for (; item != Grammar::kEnd; item = grammar.items[item].next) {
        const Grammar::Item& part = grammar.items[item];
        if (part.part == Part::lexeme) possible = possible && is_good(part.index);
        if (part.part != Part::rule) continue;
        uses.push_back({alternatives.size(), last_use[part.index]});
        last_use[part.index] = uses.size();
        ++alternative.open;
      }
      if (!possible) alternative.open = std::numeric_limits<size_t>::max();
      if (alternative.open == 0) found(rule);
      alternatives.push_back(alternative);
    }
  }
  while (!waiting.empty()) {
    const uint32_t rule = waiting.back();
    waiting.pop_back();
    for (size_t use = last_use[rule]; use != 0; use = uses[use - 1].next) {
      Alternative& alternative = alternatives[uses[use - 1].alternative];
      if (--alternative.open == 0) found(alternative.rule);
    }
  }
  return good;
}

// Tarjan's strongly connected components of the relation "may begin with", without recursion.
class Components {
 public:
  explicit Components(Grammar& grammar) : grammar_(grammar), marks_(grammar.rules.size()) {}

  void find() {
    for (uint32_t rule = 0; rule < marks_.size(); ++rule) {
      if (marks_[rule].index == 0) search(rule);
    }
  }

 private:
  struct Mark {
    uint32_t index = 0, low = 0;
    bool on_stack = false;
  };
  struct Frame {
    uint32_t rule;
    size_t alternatives = 0;        // that were begun
    uint32_t item = Grammar::kEnd;  // of the last one, to be looked at
  };

  // The next rule that the one of a frame may begin with.
  std::optional<uint32_t> next_first_rule(Frame& frame) const {
    const std::vector<uint32_t>& alternatives = grammar_.rules[frame.rule].alternatives;
    while (true) {
      if (frame.item == Grammar::kEnd) {
        if (frame.alternatives == alternatives.size()) return std::nullopt;
        frame.item = alternatives[frame.alternatives++];
        continue;
      }
      const Grammar::Item& part = grammar_.items[frame.item];
      frame.item = grammar_.can_be_empty(part) ? part.next : Grammar::kEnd;
      if (part.part == Part::rule) return part.index;
    }
  }

  void open(uint32_t rule) {
    marks_[rule] = {++indices_, indices_, true};
    stack_.push_back(rule);
    path_.push_back({rule});
  }

  void search(uint32_t root) {
    open(root);
    while (!path_.empty()) {
      Frame& frame = path_.back();
      const uint32_t rule = frame.rule;
      if (const std::optional<uint32_t> first = next_first_rule(frame)) {
        const uint32_t other = *first;
        if (other == rule) grammar_.rules[rule].left_recursive = true;
        if (marks_[other].index == 0) {
          open(other);
        } else if (marks_[other].on_stack) {
          marks_[rule].low = std::min(marks_[rule].low, marks_[other].index);
        }
        continue;
      }
      if (marks_[rule].low == marks_[rule].index) close(rule);
      path_.pop_back();
      if (path_.empty()) break;
      Mark& parent = marks_[path_.back().rule];
      parent.low = std::min(parent.low, marks_[rule].low);
    }
  }

  // All above `root` on the stack is a component.
  void close(uint32_t root) {
    const bool is_single = stack_.back() == root;
    uint32_t rule = 0;
    do {
      rule = stack_.back();
      stack_.pop_back();
      marks_[rule].on_stack = false;
      grammar_.rules[rule].component = components_;
      grammar_.rules[rule].left_recursive |= !is_single;
    } while (rule != root);
    ++components_;
  }

  Grammar& grammar_;
  std::vector<Mark> marks_;
  std::vector<uint32_t> stack_;
  std::vector<Frame> path_;
  uint32_t indices_ = 0, components_ = 0;
};

}  // namespace

// Makes rules of the nodes that the start symbol needs.
class GrammarCompiler {
 public:
  GrammarCompiler(GrammarBuilder builder, Symbol start)
      : builder_(std::move(builder)), rule_of_(builder_.nodes_.size()) {
    grammar_.items.push_back({});
    const uint32_t rule = new_rule();
    add_alternative(rule, start);
    grammar_.start = rule;
    for (; !waiting_.empty();) {
      const Symbol symbol = waiting_.back();
      waiting_.pop_back();
      define(*rule_of_[static_cast<uint32_t>(symbol)], symbol);
    }
    if (builder_.ignored_ != builder_.expressions().none()) {
      grammar_.ignored = lexeme(builder_.ignored_).index;
    }
    grammar_.expressions = std::move(builder_.expressions());
  }

  Grammar finish() {
    drop_what_derives_nothing();
    const std::vector<bool> nullable = rules_of_good_symbols(grammar_, [&](uint32_t lexeme) {
      return grammar_.expressions.nullable(grammar_.lexemes[lexeme]);
    });
    for (size_t i = 0; i < nullable.size(); ++i) grammar_.rules[i].nullable = nullable[i];
    Components(grammar_).find();
    return std::move(grammar_);
  }

 private:
  using Kind = GrammarBuilder::Kind;
  using Node = GrammarBuilder::Node;
  struct Reference {
    Part part;
    uint32_t index;
  };

  const Node& node(Symbol symbol) const { return builder_.node(symbol); }

  uint32_t new_rule() {
    builder_.expressions().spend(kRuleSteps);
    grammar_.rules.emplace_back();
    return static_cast<uint32_t>(grammar_.rules.size() - 1);
  }

  Reference lexeme(ExpressionId expression) {
    const auto key = static_cast<uint32_t>(expression);
    if (const uint32_t* known = lexeme_of_.find(key)) return {Part::lexeme, *known};
    const auto index = static_cast<uint32_t>(grammar_.lexemes.size());
    lexeme_of_.insert(key, index);
    grammar_.lexemes.push_back(expression);
    return {Part::lexeme, index};
  }

  Reference reference(Symbol symbol) {
    const Node& each = node(symbol);
    if (each.kind == Kind::terminal) return lexeme(each.expression);
    const bool has_ignored = builder_.ignored_ != builder_.expressions().none();
    if (each.kind == Kind::repetition && node(each.parts[0]).kind == Kind::terminal &&
        !has_ignored) {
      return lexeme(
          builder_.expressions().repeat(node(each.parts[0]).expression, each.min, each.max));
    }
    std::optional<uint32_t>& rule = rule_of_[static_cast<uint32_t>(symbol)];
    if (!rule) {
      rule = new_rule();
      waiting_.push_back(symbol);
    }
    return {Part::rule, *rule};
  }

  uint32_t prepend(Reference part, uint32_t next) {
    if (part.part == Part::lexeme &&
        grammar_.lexemes[part.index] == builder_.expressions().epsilon()) {
      return next;
    }
    builder_.expressions().spend(kItemSteps);
    const uint64_t is_rule = part.part == Part::rule ? 1 : 0;
    const uint64_t key = is_rule << 63 | uint64_t{part.index} << 32 | next;
    if (const uint32_t* known = item_of_.find(key)) return *known;
    const auto item = static_cast<uint32_t>(grammar_.items.size());
    item_of_.insert(key, item);
    grammar_.items.push_back({part.part, part.index, next});
    return item;
  }

  uint32_t items_of(const std::vector<Symbol>& parts) {
    uint32_t item = Grammar::kEnd;
    for (size_t i = parts.size(); i-- > 0;) item = prepend(reference(parts[i]), item);
    return item;
  }

  void add_alternative(uint32_t rule, Symbol symbol) {
    const uint32_t item = node(symbol).kind == Kind::sequence
                              ? items_of(node(symbol).parts)
                              : prepend(reference(symbol), Grammar::kEnd);
    grammar_.rules[rule].alternatives.push_back(item);
  }

  void define(uint32_t rule, Symbol symbol) {
    const Node* each = &node(symbol);
    if (each->kind == Kind::rule) {
      if (each->parts.empty()) fail("the rule {} is not defined", quoted(each->name));
      symbol = each->parts[0];
      each = &node(symbol);
      if (each->kind != Kind::choice) return add_alternative(rule, symbol);
    }
    if (each->kind == Kind::choice) {
      for (const Symbol alternative : each->parts) add_alternative(rule, alternative);
    } else if (each->kind == Kind::sequence) {
      add_alternative(rule, symbol);
    } else {
      define_repetition(rule, *each);
    }
  }

  // Recursion on the right: what follows a part is the same after each of an unbounded number.
  void define_repetition(uint32_t rule, const Node& repetition) {
    const Reference part = reference(repetition.parts[0]);
    uint32_t item = Grammar::kEnd;
    if (repetition.max == GrammarBuilder::kUnbounded) {
      const uint32_t loop = repetition.min == 0 ? rule : new_rule();
      item = prepend({Part::rule, loop}, Grammar::kEnd);
      grammar_.rules[loop].alternatives = {Grammar::kEnd, prepend(part, item)};
      if (loop == rule) return;
    } else {
      for (uint32_t count = repetition.min; count < repetition.max; ++count) {
        const uint32_t rest = new_rule();
        grammar_.rules[rest].alternatives = {Grammar::kEnd, prepend(part, item)};
        item = prepend({Part::rule, rest}, Grammar::kEnd);
      }
    }
    for (uint32_t count = 0; count < repetition.min; ++count) item = prepend(part, item);
    grammar_.rules[rule].alternatives = {item};
  }

  void drop_what_derives_nothing() {
    std::vector<bool> productive_lexemes;
    for (const ExpressionId each : grammar_.lexemes) {
      productive_lexemes.push_back(!grammar_.expressions.is_empty(each));
    }
    const auto is_good = [&](uint32_t lexeme) { return productive_lexemes[lexeme]; };
    const std::vector<bool> productive = rules_of_good_symbols(grammar_, is_good);
    require(productive[grammar_.start], "no text satisfies the constraint");
    for (Grammar::Rule& rule : grammar_.rules) {
      std::ranges::sort(rule.alternatives);
      const auto repeated = std::ranges::unique(rule.alternatives);
      rule.alternatives.erase(repeated.begin(), repeated.end());
      std::erase_if(rule.alternatives, [&](uint32_t item) {
        for (; item != Grammar::kEnd; item = grammar_.items[item].next) {
          const Grammar::Item& part = grammar_.items[item];
          if (part.part == Part::rule ? !productive[part.index] : !is_good(part.index)) return true;
        }
        return false;
      });
    }
    if (grammar_.ignored && !is_good(*grammar_.ignored)) grammar_.ignored.reset();
  }

  GrammarBuilder builder_;
  Grammar grammar_;
  NumberMap lexeme_of_;                           // by expression
  NumberMap item_of_;                             // by part, index and next
  std::vector<std::optional<uint32_t>> rule_of_;  // by symbol
  std::vector<Symbol> waiting_;                   // symbols whose rules are to be defined
};

namespace {

bool has_text_of(Grammar grammar, const ByteSet& bytes) {
  Expressions& expressions = grammar.expressions;
  const ExpressionId text =
      expressions.repeat(expressions.bytes(bytes), 0, Expressions::kUnbounded);
  std::vector<bool> good;
  for (const ExpressionId lexeme : grammar.lexemes) {
    good.push_back(!expressions.is_empty(expressions.intersect(lexeme, text)));
  }
  return rules_of_good_symbols(grammar,
                               [&](uint32_t lexeme) { return good[lexeme]; })[grammar.start];
}

}  // namespace

void require_text_of(const Grammar& grammar, const ByteSet& bytes) {
  ByteSet used;
  for (const ByteSet& set : grammar.expressions.reachable_sets(grammar.lexemes)) used |= set;
  const ByteSet missing = used & ~bytes;
  if (missing.empty() || has_text_of(grammar, bytes)) return;
  for (int byte = 0; byte < 256; ++byte) {
    const ByteSet one = ByteSet::of(static_cast<uint8_t>(byte));
    if ((missing & one).empty() || has_text_of(grammar, ~one)) continue;
    fail(
        "the vocabulary cannot spell what the constraint requires: no token holds the byte "
        "0x{:02X}",
        byte);
  }
  fail("the vocabulary cannot spell any text that satisfies the constraint");
}

Grammar compile(GrammarBuilder builder, Symbol start) {
  return GrammarCompiler(std::move(builder), start).finish();
}

}  // namespace heed::constrain
