#include "heed/constrain/grammar.h"

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::constrain {
namespace {

constexpr size_t kMaxCopies = 20000;
// What is nested more deeply stays a rule, so that expressions keep far from their limit.
constexpr uint16_t kMaxFoldedDepth = 100;
// What a symbol costs until it is compiled, relative to a node of an expression, each of its parts,
// and how many bytes of a text are read in that time.
constexpr size_t kSymbolSteps = 4, kPartSteps = 1, kBytesOfStep = 8;

}  // namespace

void GrammarBuilder::spend_on(std::string_view text) {
  expressions_.spend(text.size() / kBytesOfStep);
}

Symbol GrammarBuilder::add(Node node) {
  expressions_.spend(kSymbolSteps + kPartSteps * node.parts.size());
  nodes_.push_back(std::move(node));
  return Symbol{static_cast<uint32_t>(nodes_.size() - 1)};
}

Symbol GrammarBuilder::terminal(ExpressionId expression) {
  return add({.kind = Kind::terminal, .expression = expression});
}

Symbol GrammarBuilder::sequence(std::vector<Symbol> parts) {
  if (parts.size() == 1) return parts[0];
  return add({.kind = Kind::sequence, .parts = std::move(parts)});
}

Symbol GrammarBuilder::choice(std::vector<Symbol> alternatives) {
  if (alternatives.size() == 1) return alternatives[0];
  return add({.kind = Kind::choice, .parts = std::move(alternatives)});
}

Symbol GrammarBuilder::repeat(Symbol part, uint32_t min, uint32_t max) {
  require(min <= max, "a repetition of at least {} and at most {}", min, max);
  if (min == 1 && max == 1) return part;
  if (node(part).kind != Kind::terminal) {
    copies_ += max == kUnbounded ? min : max;
    require(copies_ <= kMaxCopies, "more than {} copies of what is repeated", kMaxCopies);
  }
  return add({.kind = Kind::repetition, .parts = {part}, .min = min, .max = max});
}

Symbol GrammarBuilder::declare(std::string name) {
  return add({.kind = Kind::rule, .name = std::move(name)});
}

void GrammarBuilder::define(Symbol declared, Symbol body) {
  Node& rule = nodes_[static_cast<uint32_t>(declared)];
  if (rule.kind != Kind::rule || !rule.parts.empty()) {
    fail("the rule {} is defined twice", quoted(rule.name));
  }
  rule.parts = {body};
}

void GrammarBuilder::ignore(ExpressionId expression) {
  ignored_ = expressions_.alternate(ignored_, expression);
}

// Finds the parts of a grammar that no recursive rule belongs to, and makes terminals of them.
class RegularParts {
 public:
  explicit RegularParts(GrammarBuilder& builder)
      : builder_(builder), state_(builder.nodes_.size(), State::unknown) {}

  void fold() {
    for (uint32_t i = 0; i < state_.size(); ++i) fold(Symbol{i});
  }

  // Returns whether it is regular.
  bool fold(Symbol root) {
    visit(root);
    return state(root) == State::regular;
  }

 private:
  using Node = GrammarBuilder::Node;
  using Kind = GrammarBuilder::Kind;
  enum class State : uint8_t { unknown, open, regular, recursive };
  struct Frame {
    Symbol symbol;
    size_t next = 0;  // of its parts
  };

  State& state(Symbol symbol) { return state_[static_cast<uint32_t>(symbol)]; }
  Node& node(Symbol symbol) { return builder_.nodes_[static_cast<uint32_t>(symbol)]; }

  // Depth first, without recursion: parts before what they are parts of.
  void visit(Symbol root) {
    if (state(root) != State::unknown) return;
    std::vector<Frame> path = {{root}};
    state(root) = State::open;
    while (!path.empty()) {
      Frame& frame = path.back();
      const Node& each = node(frame.symbol);
      if (frame.next < each.parts.size()) {
        const Symbol part = each.parts[frame.next++];
        if (state(part) == State::unknown) {
          state(part) = State::open;
          path.push_back({part});
        }
        continue;
      }
      close(frame.symbol);
      path.pop_back();
    }
  }

  // A part that is still open lies on a cycle.
  void close(Symbol symbol) {
    Node& each = node(symbol);
    bool is_regular = each.kind != Kind::rule || !each.parts.empty();
    for (const Symbol part : each.parts) {
      is_regular = is_regular && state(part) == State::regular &&
                   builder_.expressions_.node(node(part).expression).depth <= kMaxFoldedDepth;
    }
    state(symbol) = is_regular ? State::regular : State::recursive;
    if (!is_regular || each.kind == Kind::terminal) return;
    each = {.kind = Kind::terminal, .expression = expression_of(each)};
  }

  ExpressionId expression_of(const Node& each) {
    Expressions& expressions = builder_.expressions_;
    std::vector<ExpressionId> parts;
    for (const Symbol part : each.parts) parts.push_back(node(part).expression);
    switch (each.kind) {
      case Kind::terminal:
      case Kind::rule:
        return parts[0];
      case Kind::sequence:
        return expressions.concatenate(parts);
      case Kind::choice:
        return expressions.alternate(parts);
      case Kind::repetition:
        return expressions.repeat(parts[0], each.min, each.max);
    }
    return expressions.none();
  }

  GrammarBuilder& builder_;
  std::vector<State> state_;
};

ExpressionId GrammarBuilder::fold(Symbol part) {
  const std::string name = node(part).name;
  if (!RegularParts(*this).fold(part)) {
    fail("{} is recursive, or a part of it is not defined", quoted(name));
  }
  return node(part).expression;
}

void GrammarBuilder::fold_regular_parts() { RegularParts(*this).fold(); }

}  // namespace heed::constrain
