#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// A deterministic automaton that reads one of a set of lexemes, byte by byte. A state is what may
/// still follow of each lexeme: pairs of a lexeme and an expression. States and transitions are
/// made when they are first needed.
///
/// Every function that makes states throws Error when there are too many of them.
class Lexer {
 public:
  /// A state from which no lexeme can be completed.
  static constexpr uint32_t kDead = 0;
  /// What next() adds to a state in which a lexeme is complete.
  static constexpr uint32_t kAccepting = uint32_t{1} << 31;
  static constexpr uint32_t kUnknown = kAccepting - 1;

  /// lexemes[i] is what lexeme i matches. `others` are further expressions whose derivatives will
  /// be asked for with the byte classes of this lexer. `max_memory` is in bytes.
  Lexer(Expressions expressions, std::vector<ExpressionId> lexemes,
        std::span<const ExpressionId> others, size_t max_memory);

  /// The state before the first byte of one of these lexemes, which are ascending.
  uint32_t start(std::span<const uint32_t> lexemes);
  /// The state after a byte of the class, with kAccepting if it completes a lexeme.
  uint32_t next(uint32_t state, uint8_t byte_class) {
    const uint32_t known = table_[state * classes() + byte_class];
    return known != kUnknown ? known : find_next(state, byte_class);
  }

  /// Which lexemes a state completes: an index for lexemes_of(); 0 stands for none.
  uint32_t accepted(uint32_t state) const { return states_[state].accepted; }
  std::span<const uint32_t> lexemes_of(uint32_t accepted) const { return accepted_[accepted]; }
  /// Whether a lexeme may go on with a further byte.
  bool continues(uint32_t state) const { return states_[state].continues; }
  /// What may follow, as expressions.
  struct Entry {
    uint32_t lexeme;
    ExpressionId rest;
    bool operator==(const Entry&) const = default;
  };
  std::span<const Entry> entries(uint32_t state) const {
    return std::span(entries_).subspan(states_[state].begin, states_[state].size);
  }
  /// The states after each class, as next() returns them, so far as they are known: kUnknown.
  std::span<const uint32_t> known_next(uint32_t state) const {
    return std::span(table_).subspan(state * classes(), classes());
  }

  size_t classes() const { return classes_.representative.size(); }
  uint8_t class_of(uint8_t byte) const { return classes_.class_of[byte]; }
  const Expressions::ByteClasses& byte_classes() const { return classes_; }
  Expressions& expressions() { return expressions_; }
  /// Bytes of memory, about.
  size_t memory() const;

 private:
  struct State {
    uint32_t begin, size;  // of entries_
    uint32_t accepted;
    bool continues;
  };

  uint32_t find_next(uint32_t state, uint8_t byte_class);
  uint32_t add_state(std::vector<Entry> entries);
  uint32_t add_accepted(std::vector<uint32_t> lexemes);
  bool may_continue(ExpressionId rest);

  Expressions expressions_;
  std::vector<ExpressionId> lexemes_;
  size_t max_memory_;
  Expressions::ByteClasses classes_;
  std::vector<State> states_;
  std::vector<Entry> entries_;
  std::unordered_multimap<uint64_t, uint32_t> state_of_;  // by the hash of its entries
  std::vector<std::vector<uint32_t>> accepted_;
  std::map<std::vector<uint32_t>, uint32_t> accepted_index_;
  std::vector<uint32_t> table_;  // [states, classes]
};

}  // namespace heed::constrain
