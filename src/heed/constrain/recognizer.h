#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/constrain/earley.h"
#include "heed/constrain/grammar.h"
#include "heed/constrain/lexer.h"
#include "heed/constrain/number_map.h"

namespace heed::constrain {

/// Recognises the texts of a grammar byte by byte. A state stands for all that can follow a text:
/// threads, each a lexeme that began in some row of the Earley parser and has come to some state
/// of the lexer. Usually there is one. States and transitions are made when they are first needed,
/// and from then on a byte is one look-up in a table.
///
/// States are small numbers, so that to go back is to remember a number. Every function that makes
/// states throws Error when the recognizer exceeds its memory, and TooManySteps when its
/// expressions do: what all of its parts do is counted there.
class Recognizer {
 public:
  /// The state of texts that no further bytes can complete.
  static constexpr uint32_t kDead = 0;
  struct Thread {
    uint32_t row, lexer_state;
    auto operator<=>(const Thread&) const = default;
  };

  /// `others`: see Lexer. `max_memory` is in bytes.
  Recognizer(std::shared_ptr<const Grammar> grammar, std::span<const ExpressionId> others,
             size_t max_memory);
  Recognizer(const Recognizer&) = delete;
  Recognizer& operator=(const Recognizer&) = delete;

  uint32_t start() const { return start_; }
  uint32_t next(uint32_t state, uint8_t byte) {
    return next_in_class(state, lexer_.class_of(byte));
  }
  uint32_t next_in_class(uint32_t state, uint8_t byte_class) {
    const uint32_t known = table_[state * classes_ + byte_class];
    return known != kUnknown ? known : find_next(state, byte_class);
  }
  /// The row of the Earley parser where the lexemes of a thread's state of the lexer, which it
  /// completes, end.
  uint32_t row_after(Thread thread);
  /// Of a row: whether the text may end there, and the state of the lexer for what may follow;
  /// Lexer::kDead if nothing may.
  bool row_accepting(uint32_t row) const { return earley_.accepting(row); }
  uint32_t row_lexer_state(uint32_t row) const { return earley_.lexer_state(row); }
  /// The state of these threads, in which a text cannot end.
  uint32_t state_of(std::vector<Thread> threads) { return add_state(std::move(threads), false); }

  /// Whether a text may end in a state.
  bool accepting(uint32_t state) const { return states_[state].accepting; }
  std::span<const Thread> threads(uint32_t state) const {
    return std::span(threads_).subspan(states_[state].begin, states_[state].size);
  }
  Lexer& lexer() { return lexer_; }
  const Earley& earley() const { return earley_; }
  const Grammar& grammar() const { return *grammar_; }
  /// Bytes of memory, about.
  size_t memory() const;
  /// Throws Error if the recognizer and `further` bytes exceed the memory it may have.
  void check_memory(size_t further = 0) const;

 private:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;
  struct State {
    uint32_t begin, size;  // of threads_
    bool accepting;
  };

  uint32_t find_next(uint32_t state, uint8_t byte_class);
  uint32_t enter(std::vector<Thread> threads, std::span<const Earley::Completion> completions);
  uint32_t add_state(std::vector<Thread> threads, bool accepting);

  std::shared_ptr<const Grammar> grammar_;
  Lexer lexer_;
  Earley earley_;
  size_t classes_, max_memory_;
  std::vector<State> states_;
  std::vector<Thread> threads_;
  NumbersIndex state_index_;
  NumberMap rows_after_;         // by row and what is accepted there
  std::vector<uint32_t> table_;  // [states, classes]
  uint32_t start_ = kDead;
};

}  // namespace heed::constrain
