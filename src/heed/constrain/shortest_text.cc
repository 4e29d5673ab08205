#include "heed/constrain/shortest_text.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>
#include <utility>

namespace heed::constrain {
namespace {

constexpr uint32_t kEndless = ShortestText::kEndless;

uint32_t sum(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} + b, kEndless));
}

/// Lowers a length; returns whether it was larger.
bool lower(uint32_t& length, uint32_t to) {
  if (to >= length) return false;
  length = to;
  return true;
}

}  // namespace

ShortestText::ShortestText(Recognizer& recognizer) : recognizer_(recognizer) {
  find_item_lengths();
}

// Of what items derive, the shortest first (Knuth 1977): a length is final once no shorter one is
// left, and then adds to those of the items and rules that need it.
void ShortestText::find_item_lengths() {
  const Grammar& grammar = recognizer_.grammar();
  const size_t items = grammar.items.size();
  recognizer_.lexer().expressions().spend(items + grammar.rules.size());
  // Rules come behind the items. Who needs a length, as chains; an alternative is needed by a rule.
  struct Use {
    size_t by, next;  // the next one: a position plus 1
  };
  std::vector<Use> uses;
  std::vector<size_t> last_use(items + grammar.rules.size());
  const auto add_use = [&](size_t of, size_t by) {
    uses.push_back({by, last_use[of]});
    last_use[of] = uses.size();
  };
  const auto part_of = [&](const Grammar::Item& item) { return items + item.index; };
  for (size_t i = 1; i < items; ++i) {
    const Grammar::Item& item = grammar.items[i];
    if (item.part == Grammar::Part::rule) add_use(part_of(item), i);
    add_use(item.next, i);
  }
  for (size_t rule = 0; rule < grammar.rules.size(); ++rule) {
    for (const uint32_t item : grammar.rules[rule].alternatives) add_use(item, items + rule);
  }
  std::vector<uint32_t> lengths(items + grammar.rules.size(), kEndless);
  const auto item_length = [&](const Grammar::Item& item) {
    const uint32_t part = item.part == Grammar::Part::rule
                              ? lengths[part_of(item)]
                              : expression_length(grammar.lexemes[item.index]);
    return sum(part, lengths[item.next]);
  };
  using Found = std::pair<uint32_t, size_t>;
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
  found.emplace(0, Grammar::kEnd);
  while (!found.empty()) {
    const auto [length, each] = found.top();
    found.pop();
    if (!lower(lengths[each], length)) continue;
    for (size_t use = last_use[each]; use != 0; use = uses[use - 1].next) {
      const size_t by = uses[use - 1].by;
      const uint32_t longer = by < items ? item_length(grammar.items[by]) : length;
      if (longer < lengths[by]) found.emplace(longer, by);
    }
  }
  lengths.resize(items);
  item_lengths_ = std::move(lengths);
}

uint32_t ShortestText::waiter_length(Earley::Waiter waiter) const {
  return sum(item_lengths_[waiter.item], continuation_lengths_[waiter.continuation]);
}

// Of continuations that are new. They refer to earlier ones, and within a group to each other.
void ShortestText::find_continuation_lengths() {
  const Earley& earley = recognizer_.earley();
  const size_t known = continuation_lengths_.size();
  continuation_lengths_.resize(earley.continuations(), kEndless);
  continuation_lengths_[Earley::kWhole] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = std::max<size_t>(known, 1); i < continuation_lengths_.size(); ++i)
      for (const Earley::Waiter& waiter : earley.waiters(static_cast<uint32_t>(i)))
        changed |= lower(continuation_lengths_[i], waiter_length(waiter));
  }
}

uint32_t ShortestText::row_length(uint32_t row) {
  if (const auto known = row_lengths_.find(row); known != row_lengths_.end()) return known->second;
  const Earley& earley = recognizer_.earley();
  find_continuation_lengths();
  uint32_t length = earley.accepting(row) ? 0 : kEndless;
  recognizer_.lexer().expressions().spend(earley.entries(row).size());
  for (const Earley::Entry& entry : earley.entries(row)) {
    const ExpressionId lexeme = recognizer_.grammar().lexemes[entry.lexeme];
    lower(length, sum(expression_length(lexeme), waiter_length(entry.after)));
  }
  row_lengths_.emplace(row, length);
  return length;
}

// Of a lexeme that was begun, and of what follows it.
uint32_t ShortestText::thread_length(Recognizer::Thread thread) {
  find_continuation_lengths();
  Lexer& lexer = recognizer_.lexer();
  const std::span<const Lexer::Entry> lexemes = lexer.entries(thread.lexer_state);
  uint32_t length = kEndless;
  // A copy: to search lengths adds expressions, and no states.
  for (const Lexer::Entry each : std::vector(lexemes.begin(), lexemes.end())) {
    const uint32_t rest = expression_length(each.rest);
    if (recognizer_.grammar().ignored == each.lexeme)
      lower(length, sum(rest, row_length(thread.row)));
    const auto entries = std::ranges::equal_range(recognizer_.earley().entries(thread.row),
                                                  each.lexeme, {}, &Earley::Entry::lexeme);
    lexer.expressions().spend(1 + entries.size());
    for (const Earley::Entry& entry : entries) lower(length, sum(rest, waiter_length(entry.after)));
  }
  return length;
}

uint32_t ShortestText::length(uint32_t state) {
  if (recognizer_.accepting(state)) return 0;
  if (const auto known = state_lengths_.find(state); known != state_lengths_.end())
    return known->second;
  const std::span<const Recognizer::Thread> threads = recognizer_.threads(state);
  uint32_t length = kEndless;
  for (const Recognizer::Thread thread : std::vector(threads.begin(), threads.end()))
    lower(length, thread_length(thread));
  state_lengths_.emplace(state, length);
  return length;
}

std::string ShortestText::text(uint32_t state) {
  std::string text;
  const std::vector<uint8_t>& bytes = recognizer_.lexer().byte_classes().representative;
  std::vector<uint8_t> ascending = bytes;
  std::ranges::sort(ascending);
  for (uint32_t left = length(state); left > 0; --left)
    for (const uint8_t byte : ascending) {
      const uint32_t next = recognizer_.next(state, byte);
      if (next == Recognizer::kDead || length(next) != left - 1) continue;
      text += static_cast<char>(byte);
      state = next;
      break;
    }
  return text;
}

uint32_t ShortestText::expression_length(ExpressionId expression) {
  if (const auto known = expression_lengths_.find(expression); known != expression_lengths_.end())
    return known->second;
  const uint32_t length = structural_length(expression);
  expression_lengths_.emplace(expression, length);
  return length;
}

uint32_t ShortestText::structural_length(ExpressionId expression) {
  using Kind = Expressions::Kind;
  Expressions& expressions = recognizer_.lexer().expressions();
  const Expressions::Node node = expressions.node(expression);
  if (node.nullable) return 0;
  if (node.plain) return node.min_length;
  switch (node.kind) {
    case Kind::concatenation: {
      uint32_t length = 0;
      for (; expressions.node(expression).kind == Kind::concatenation;
           expression = expressions.node(expression).second())
        length = sum(length, expression_length(expressions.node(expression).first()));
      return sum(length, expression_length(expression));
    }
    case Kind::alternation: {
      uint32_t length = kEndless;
      const std::span<const ExpressionId> children = expressions.children(expression);
      for (const ExpressionId child : std::vector(children.begin(), children.end()))
        lower(length, expression_length(child));
      return length;
    }
    case Kind::repetition: {
      const uint64_t length = expression_length(node.first());
      return static_cast<uint32_t>(std::min<uint64_t>(length * node.min(), kEndless));
    }
    default:
      return search_length(expression);
  }
}

// Breadth first through the derivatives.
uint32_t ShortestText::search_length(ExpressionId expression) {
  Lexer& lexer = recognizer_.lexer();
  Expressions& expressions = lexer.expressions();
  std::vector<ExpressionId> level = {expression}, next;
  std::unordered_set<ExpressionId> seen = {expression};
  for (uint32_t length = 1; !level.empty(); ++length, level.swap(next)) {
    next.clear();
    for (const ExpressionId each : level) {
      const ByteSet first = expressions.first_bytes(each);
      for (const uint8_t byte : lexer.byte_classes().representative) {
        if (!first.contains(byte)) continue;
        const ExpressionId rest = expressions.derivative(each, byte);
        if (expressions.nullable(rest)) return length;
        if (seen.insert(rest).second) next.push_back(rest);
      }
    }
  }
  return kEndless;
}

}  // namespace heed::constrain
