#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/constraint.h"
#include "heed/constrain/vocabulary.h"

namespace heed::constrain {

/// How far one text has come in a constraint. A copy goes its own way, as hypotheses of a beam do.
/// One thread at a time may use a Matcher.
///
/// Every function but rollback() throws Error when the constraint needs more memory or time for
/// the text than its limits allow.
class Matcher {
 public:
  /// Throws Error if the tokens of the vocabulary cannot spell what the constraint requires.
  Matcher(std::shared_ptr<const Constraint> constraint,
          std::shared_ptr<const Vocabulary> vocabulary);

  /// Sets bit `id % 64` of bits[id / 64] for each token that may follow, and clears all others. A
  /// token may not follow if no tokens spell what must follow it.
  /// An end token may follow where is_accepting(). `bits` has vocabulary().mask_words() words.
  /// After an end token no bit is set.
  void mask(std::span<uint64_t> bits);
  /// Appends a token. Returns false, and changes nothing, if the mask does not allow it. After an
  /// end token nothing may follow.
  bool accept(int32_t token);
  /// Appends bytes of a text, as one step of rollback(). Returns how many of them are allowed;
  /// unless that is all of them, it changes nothing.
  size_t accept_bytes(std::string_view bytes);
  /// Takes back the last `steps` tokens or calls of accept_bytes() that were accepted. Throws Error
  /// if there were fewer.
  void rollback(size_t steps);
  /// Whether the text may end here, or has ended.
  bool is_accepting();
  /// Whether the text ends here: nothing but an end token may follow.
  bool is_complete();
  /// Why a token may not follow, in words: which byte of it cannot, and what can in its place.
  /// Empty if it may follow.
  std::string why_forbidden(int32_t token);
  /// The bytes that must follow, as far as there is only one possibility; at most `limit`.
  std::string forced_bytes(size_t limit = 4096);

  /// Whether at most `tokens` tokens that closing_token() gives, one after the other, lead to a
  /// text that may end.
  bool can_end_within(int64_t tokens);
  /// The next token of the shortest text that may end: the longest that it begins with. Throws
  /// Error if the text may end here, or if no token spells the shortest text.
  int32_t closing_token();

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  using Automaton = Constraint::Automaton;
  struct Step {
    size_t text_size;  // after it
    uint32_t state;    // of the recognizer
    bool ended;        // by an end token
  };

  void with_automaton(const std::function<void(Automaton&)>& use);
  void replay(Recognizer& recognizer);
  std::string shortest_text();
  bool can_be_spelled_on();
  ByteSet next_bytes(std::string_view behind);
  const Step& current() const { return steps_.back(); }

  std::shared_ptr<const Constraint> constraint_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string text_;
  std::vector<Step> steps_;  // the first is the empty text
  uint64_t automaton_ = 0;   // the one that the states belong to
};

}  // namespace heed::constrain
