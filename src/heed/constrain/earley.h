#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/constrain/grammar.h"
#include "heed/constrain/lexer.h"

namespace heed::constrain {

struct NumbersHash {
  size_t operator()(const std::vector<uint32_t>& numbers) const;
};

/// What lists of numbers stand for.
using NumbersIndex = std::unordered_map<std::vector<uint32_t>, uint32_t, NumbersHash>;

/// The rows of an Earley parser (Earley 1970), made independent of positions in a text. An Earley
/// item refers to the position where its rule began, to find what waits for the rule there. Here
/// it refers to what waits: a continuation, a set of items, which is stored once wherever it
/// occurs. So equal rows are one row: rows of a list's elements repeat, and a text of any length
/// needs finitely many, unless it nests deeper and deeper.
///
/// What completes a rule is looked up when the continuation is made. A chain of rules that end
/// together, as recursion on the right leaves behind, is therefore never followed (cf. Leo 1991).
class Earley {
 public:
  /// `max_memory` is in bytes.
  Earley(const Grammar& grammar, Lexer& lexer, size_t max_memory);

  /// The row before the first byte.
  uint32_t start() const { return start_; }
  /// A thread of the text up to here in which the lexemes `accepted` (an index of the lexer), which
  /// began in `row`, end here.
  struct Completion {
    uint32_t row, accepted;
    bool operator==(const Completion&) const = default;
  };
  /// The row where all of these lexemes end. There is at least one. Throws Error when that takes
  /// too much memory, and TooManySteps as the expressions of the lexer do.
  uint32_t advance(std::span<const Completion> completions);

  /// Whether the text may end at a row.
  bool accepting(uint32_t row) const { return rows_[row].accepting; }
  /// The state of the lexer for the lexemes that may follow; Lexer::kDead if none may.
  uint32_t lexer_state(uint32_t row) const { return rows_[row].lexer_state; }
  /// Bytes of memory, about.
  size_t memory() const;

  /// An item and what follows where it ends.
  struct Waiter {
    uint32_t item, continuation;
    auto operator<=>(const Waiter&) const = default;
  };
  /// A lexeme that may come next, and what follows it.
  struct Entry {
    uint32_t lexeme;
    Waiter after;
    auto operator<=>(const Entry&) const = default;
  };
  std::span<const Entry> entries(uint32_t row) const { return rows_[row].entries; }
  /// How many continuations there are, and what waits in one. It refers to itself, to those before
  /// it and to some that were made together with it.
  size_t continuations() const { return continuations_.size(); }
  std::span<const Waiter> waiters(uint32_t continuation) const {
    return continuations_[continuation];
  }
  /// The continuation of a text as a whole: {(kEnd, kWhole)}.
  static constexpr uint32_t kWhole = 0;

 private:
  struct Row {
    std::vector<Entry> entries;
    bool accepting;
    uint32_t lexer_state;
  };
  // In a component that is recursive on the left: `rule` waits for `for_rule` before `item`.
  struct InnerWaiter {
    uint32_t for_rule, item, rule;
  };
  struct Component {
    std::vector<uint32_t> rules;
    std::vector<InnerWaiter> waiters;
    bool left_recursive = false;
  };
  // A row that is being made.
  struct Draft {
    std::vector<Entry> entries = {};
    bool accepting = false;
  };

  void find_components();
  void spend(size_t steps) { lexer_.expressions().spend(steps); }
  uint32_t make_row(std::vector<Waiter> kernel, Draft draft);
  void scan(std::vector<Waiter> kernel, Draft& draft);
  void wait_for(uint32_t rule, Waiter waiter);
  void predict(uint32_t rule, uint32_t continuation, Draft& draft);
  void predict_component(const Component& component, Draft& draft);
  std::vector<Waiter> expanded(std::span<const Waiter> waiters);
  uint32_t continuation_of(const std::vector<Waiter>& waiters);
  uint32_t continuations_of(const Component& component);
  std::vector<std::vector<Waiter>> recursive_waiters(const Component& component,
                                                     std::vector<std::vector<Waiter>> waiters,
                                                     uint32_t base);

  const Grammar& grammar_;
  Lexer& lexer_;
  std::vector<Component> components_;
  std::vector<uint32_t> place_;  // of each rule in its component
  std::vector<std::vector<Waiter>> continuations_;
  NumbersIndex continuation_index_, recursive_index_;
  std::vector<Row> rows_;
  NumbersIndex row_index_, advanced_;
  // While a row is made: what waits for each rule, and the components of such rules.
  std::vector<std::vector<Waiter>> waiting_for_;
  std::set<uint32_t, std::greater<>> predicted_;
  uint32_t start_ = 0;
  size_t memory_ = 0, max_memory_;
};

}  // namespace heed::constrain
