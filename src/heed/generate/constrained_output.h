#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/constrain/matcher.h"
#include "heed/generate/token_logits.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {

/// What the text of an output must match; null: anything.
struct OutputConstraint {
  std::shared_ptr<const constrain::Constraint> constraint = {};
  std::shared_ptr<const constrain::Vocabulary> vocabulary = {};
  /// An output is completed within its limit of tokens, by the shortest text when there is no room
  /// for another one.
  bool complete = false;
  /// Log-probabilities are those of the model, over all tokens; otherwise over those that may come
  /// next.
  bool free_log_probabilities = false;
};

/// The bytes of a model's tokens, of which `end_tokens` end an output. A special token has
/// constrain::special_token_text() of its piece, ids without a piece have none.
std::shared_ptr<const constrain::Vocabulary> output_vocabulary(const text::Tokenizer& tokenizer,
                                                               int64_t vocab_size,
                                                               std::vector<int32_t> end_tokens);

/// The same of one token.
std::string text_of_token(const text::Tokenizer& tokenizer, int32_t token);

/// How far an output, and tokens that are drafted behind it, have come in a constraint. Functions
/// throw Error as constrain::Matcher does.
class ConstrainedOutput {
 public:
  explicit ConstrainedOutput(const OutputConstraint& constraint)
      : matcher_(constraint.constraint, constraint.vocabulary), complete_(constraint.complete) {}

  /// Forbids all tokens but those that may come next.
  void restrict(const TokenLogits& logits);
  /// Appends a token that restrict() has left, in the place of those that were drafted.
  void append(int32_t token);
  /// The tokens that must come next where there is only one text to go on with: those into which
  /// the tokenizer divides it behind `output`, the tokens so far. Left to be chosen are the last
  /// ones where a longer token could stand in their place; all where the tokenizer would join the
  /// text with `output` or change it; and those after which an output that is to be completed would
  /// not fit into `room` tokens.
  std::vector<int32_t> forced_tokens(const text::Tokenizer& tokenizer,
                                     std::span<const int32_t> output, int64_t room);
  /// Whether only an end token may come next.
  bool is_complete() { return matcher_.is_complete(); }
  /// Whether the output may end here.
  bool is_accepting() { return matcher_.is_accepting(); }
  /// Why a token may not come next; empty if it may.
  std::string why_forbidden(int32_t token) { return matcher_.why_forbidden(token); }
  /// Whether an output of at most `tokens` tokens can be completed from here.
  bool can_complete(int64_t tokens) { return matcher_.can_end_within(tokens); }
  /// `token`, which restrict() has left; or, when the output is to be completed and could not be
  /// within `room` tokens that include it, the token that leads to the end.
  int32_t token_with_room(int32_t token, int64_t room);

  /// Appends a drafted token. Returns false if it may not come next.
  bool draft(int32_t token);
  /// Takes back all drafted tokens but the first `count`.
  void keep_drafted(size_t count);

 private:
  bool allows_longer_than(size_t bytes);
  bool can_end_behind(int32_t token, int64_t room);

  constrain::Matcher matcher_;
  bool complete_;
  size_t drafted_ = 0;
  std::vector<uint64_t> mask_;
};

}  // namespace heed::generate
