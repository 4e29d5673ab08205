#pragma once

#include <cstdint>
#include <span>

#include "heed/generate/shortlist.h"
#include "heed/generate/token_logits.h"
#include "heed/model/transformer.h"

namespace heed::generate {

/// Throws Error when a row of logits [N, V] on the host has a NaN or its largest logit is infinite:
/// such a row has no probabilities.
void check_logits(const Tensor& logits);

/// Transformer::logits() [N, V] of states [N, D], on the host. Throws Error as check_logits() does.
Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states);

/// What of a row of logits is enough to choose a token, usually.
struct LogitsNeeded {
  int64_t largest = 0;  // so many, the largest; 0: all
  bool log_sum_exp = false;

  /// What is enough for both.
  friend LogitsNeeded operator|(const LogitsNeeded& a, const LogitsNeeded& b) {
    return {std::max(a.largest, b.largest), a.log_sum_exp || b.log_sum_exp};
  }
};

/// The logits [N, V] that follow N tokens. Where they were computed on a device, only what is
/// needed of each row is copied to the host, the rest when it is asked for.
class Logits {
 public:
  /// Logits of a device without `needed.largest` are copied as a whole. Only the first `vocabulary`
  /// columns count.
  Logits(Tensor logits, const LogitsNeeded& needed, int64_t vocabulary);

  /// Logits [N, tokens] of some tokens, on the host: the others have no probability.
  Logits(Tensor logits, const TokenList& tokens)
      : logits_(std::move(logits)), vocabulary_(std::ssize(*tokens)), listed_(tokens) {}

  int64_t rows() const { return logits_.rows(); }
  /// Rows [begin, end).
  Logits slice(int64_t begin, int64_t end) const;
  /// A copy of the logits of `tokens` alone: the others have no probability.
  Logits only(const TokenList& tokens);
  /// Throws Error as check_logits() does.
  void check();

  /// All logits [N, V] on the host, which may be overwritten; of some tokens [N, tokens].
  Tensor& all();
  /// The column of a token in all().
  size_t column_of(int32_t token) const;
  TokenLogits all(int64_t row);

  /// Whether largest() can be called.
  bool has_largest() const { return largest_.defined(); }
  /// The largest logits of a row; they may be overwritten.
  TokenLogits largest(int64_t row);
  bool has_log_sum_exp() const { return log_sum_exp_.defined(); }
  /// The logarithm of the probability of a token of the row that has this logit, with the bits of
  /// kernels::log_softmax() on the device.
  float log_probability(int64_t row, float logit) const;
  /// Replaces the largest logits of a row by these, once.
  TokenLogits largest_log_probabilities(int64_t row);

 private:
  Logits() = default;

  Tensor logits_;            // on the device until all() is called
  Tensor largest_, tokens_;  // [N, k], the largest first
  Tensor log_sum_exp_;       // [N, 2]: see kernels::log_sum_exp
  int64_t vocabulary_ = 0;
  TokenList listed_;  // the tokens of the columns; null: all
};

}  // namespace heed::generate
