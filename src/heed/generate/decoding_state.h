#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/constrained_output.h"
#include "heed/generate/logits.h"
#include "heed/generate/required_terms.h"

namespace heed::generate {

/// An unfinished output: one hypothesis of a beam, or the only output of a request.
struct Sequence {
  std::vector<int32_t> tokens;                       // output so far
  std::vector<int32_t> cache_rows;                   // the rows of the kv cache for each token read
  double log_probability = 0;                        // used by beam search
  std::vector<double> token_log_probabilities = {};  // of `tokens`, where they are computed
  /// The cross-attention weights of the tokens read, by cache row (CrossAttentionSums::by_row()).
  /// Null unless the request asks for them.
  const std::vector<Tensor>* cross_attention = nullptr;
  std::optional<ConstrainedOutput> constrained = {};  // if a beam search has a constraint
  std::optional<TermProgress> terms = {};             // if it has required terms
};

/// How one request is decoded: the sequences that the decoder reads, and the choice of the next
/// tokens. The Scheduler feeds the prompt to the first sequence, then the tokens that were added to
/// each sequence.
class DecodingState {
 public:
  virtual ~DecodingState() = default;

  /// The first input of the decoder; not empty.
  virtual std::span<const int32_t> prompt() const = 0;
  /// One sequence until the prompt is read. Once decoding has ended, the only sequence if there was
  /// never more than one, or none.
  virtual std::span<Sequence> sequences() = 0;
  virtual bool ended() const = 0;
  /// Of each row of logits. More are read where these are not enough.
  virtual LogitsNeeded logits_needed() const { return {}; }
  /// Continues the sequences with logits [sequences, V], which it may overwrite: each by at least
  /// one token unless it ends. Every row has a finite maximum and no NaN. Called from any thread,
  /// but not for one DecodingState from two at a time.
  virtual void advance(Logits& logits) = 0;

  // For speculative decoding, of a decoding that has one sequence:

  /// Tokens that may be drafted: the output can have one more. 0: none.
  virtual int64_t max_draft() const { return 0; }
  /// The next token if the logits [1, V] after the output and `draft_offset` drafted tokens were
  /// these, which it may overwrite; -1: none that continues the output.
  virtual int32_t draft_token(Logits& /*logits*/, size_t /*draft_offset*/) { return -1; }
  /// Removes what cannot continue the output from a draft.
  virtual void shorten_draft(std::vector<int32_t>& /*draft*/) {}
  /// Like advance(), with logits [1 + draft.size(), V] after the sequence and each token of the
  /// draft, which the decoder has read, too. Continues the sequence for as long as the draft is
  /// right, and as advance() does, and removes the cache rows of the other drafted tokens. Returns
  /// the number of those that were right. Throws Error on logits that no token can be chosen from;
  /// only the first row was checked.
  virtual int64_t advance_drafted(Logits& /*logits*/, std::span<const int32_t> /*draft*/) {
    return 0;
  }
};

}  // namespace heed::generate
