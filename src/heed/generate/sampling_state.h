#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate/decoding_state.h"
#include "heed/generate/generator.h"
#include "heed/generate/stop_strings.h"

namespace heed::generate {

/// The output of one prompt while it is sampled (or chosen greedily).
class SamplingState : public DecodingState {
 public:
  /// `number` is the prompt's number among all. Options, tokenizer and input must outlive
  /// this.
  SamplingState(const GeneratorOptions& options, const std::optional<text::Tokenizer>& tokenizer,
                const GeneratorInput& input, uint64_t number);

  std::span<const int32_t> prompt() const override { return input_.prompt; }
  std::span<Sequence> sequences() override { return {&sequence_, 1}; }
  bool ended() const override { return ended_; }
  LogitsNeeded logits_needed() const override;
  /// Appends the token chosen from `logits` [1, V], which are changed by penalties and biases.
  void advance(Logits& logits) override;
  int64_t max_draft() const override { return forced_.empty() ? room() - 1 : 0; }
  int32_t draft_token(Logits& logits, size_t draft_offset) override;
  void shorten_draft(std::vector<int32_t>& draft) override;
  int64_t advance_drafted(Logits& logits, std::span<const int32_t> draft) override;

  /// The text added since the last call.
  std::string take_text() { return std::exchange(new_text_, {}); }
  std::span<const int32_t> tokens() const { return sequence_.tokens; }
  /// The result, once it has ended; the log-probabilities of `tokens` before.
  const Generation& result() const { return result_; }

 private:
  bool records_probabilities() const { return options_.top_log_probabilities >= 0; }
  std::optional<int32_t> choose_from(const TokenLogits& logits, size_t draft_offset);
  int32_t choose(Logits& logits, size_t draft_offset);
  void explain(std::vector<TokenLogProbability>& tokens);
  void append(int32_t token);
  bool append_forced();
  int64_t room() const;
  bool rules_allow(int32_t token) const;
  void finish(FinishReason reason);
  void add_token_text(int32_t token);
  void add_text(std::string_view text, bool hidden = false);
  /// The log-probability of a token, and the most probable ones.
  TokenLogProbability log_probabilities(std::span<const float> logits, int32_t chosen,
                                        std::vector<TokenLogProbability>& best) const;

  const GeneratorOptions& options_;
  const std::optional<text::Tokenizer>& tokenizer_;
  const GeneratorInput& input_;
  uint64_t number_;
  TokenCounts counts_;
  std::optional<text::DecodeStream> decoded_;
  std::optional<ConstrainedOutput> constrained_;
  std::deque<int32_t> forced_;  // tokens that come next, if their log-probabilities are computed
  StopStrings stop_;
  std::string new_text_;
  Sequence sequence_;
  Generation result_;
  bool ended_ = false;
};

}  // namespace heed::generate
