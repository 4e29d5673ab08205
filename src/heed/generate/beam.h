#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heed/generate/decoding_state.h"
#include "heed/generate/search.h"

namespace heed::generate {

/// The beam of one source or prompt: its unfinished and its finished hypotheses.
class Beam {
 public:
  /// A hypothesis ends with one of `eos_ids` or after `max_new_tokens` tokens.
  Beam(const SearchOptions& options, std::vector<int32_t> eos_ids, int64_t max_new_tokens)
      : options_(options),
        eos_ids_(std::move(eos_ids)),
        max_new_tokens_(max_new_tokens),
        sequences_(1) {}

  /// The unfinished hypotheses; empty once the search has ended.
  std::vector<Sequence>& sequences() { return sequences_; }
  const std::vector<Sequence>& sequences() const { return sequences_; }

  /// How many of the largest log-probabilities of each sequence advance() reads.
  int64_t largest_needed() const;
  /// One step of beam search, with the log-probabilities of each sequence, all of them if it has
  /// required terms, which forbids some. Returns false, and does nothing, if too few are known.
  bool advance(std::span<const TokenLogits> log_probabilities);
  /// One step of greedy search, for a beam with one sequence: appends `token`.
  void append(int32_t token, std::optional<double> log_probability = {});

  /// The n_best finished hypotheses, best first.
  std::vector<SearchResult> best() const;

 private:
  struct Candidate {
    double log_probability;
    int32_t sequence, token;
    /// Higher probability first; ties: the earlier sequence, then the smaller token.
    bool operator<(const Candidate& other) const;
  };
  std::vector<Candidate> candidates(std::span<const TokenLogits> log_probabilities) const;
  std::vector<Candidate> term_candidates(std::span<const Candidate> best,
                                         std::span<const TokenLogits> log_probabilities,
                                         const std::vector<bool>& ending) const;
  std::vector<int32_t> next_tokens_of_terms(const Sequence& sequence, bool ending) const;
  std::vector<Candidate> allocated(std::vector<Candidate> of_all) const;
  bool are_best(std::span<const Candidate> best,
                std::span<const TokenLogits> log_probabilities) const;
  bool is_end(int32_t token) const;
  void finish(const Sequence& sequence, double log_probability, size_t tokens);
  void finish_search_if_complete();

  SearchOptions options_;
  std::vector<int32_t> eos_ids_;
  int64_t max_new_tokens_;
  std::vector<Sequence> sequences_;
  std::vector<SearchResult> finished_;
};

/// Greedy or beam search for one request.
class BeamState : public DecodingState {
 public:
  /// `terms` may be null.
  BeamState(const SearchOptions& options, GeneratorInput input, TokenRules rules,
            const OutputConstraint& constraint = {},
            std::shared_ptr<const RequiredTerms> terms = {})
      : max_paths_(options.num_beams),
        scores_(options.scores),
        input_(std::move(input)),
        rules_(std::move(rules)),
        beam_(options, rules_.eos_ids, input_.max_new_tokens) {
    if (constraint.constraint) beam_.sequences().front().constrained.emplace(constraint);
    if (terms)
      beam_.sequences().front().terms.emplace(std::move(terms), room_for_terms(rules_, input_));
  }

  std::span<const int32_t> prompt() const override { return input_.prompt; }
  std::span<Sequence> sequences() override { return beam_.sequences(); }
  bool ended() const override { return beam_.sequences().empty(); }
  LogitsNeeded logits_needed() const override;
  void advance(Logits& logits) override;

  int64_t max_paths() const { return max_paths_; }
  /// The n_best hypotheses, best first, once it has ended.
  std::vector<SearchResult> best() const;

 private:
  bool only_lowers() const;
  void apply_rules_to(std::span<const TokenLogits> of_sequences);
  void log_softmax(Logits& logits, Tensor& y) const;
  std::optional<int32_t> greedy_token(const TokenLogits& logits);
  void advance_greedily(Logits& logits);

  int64_t max_paths_;
  bool scores_;
  GeneratorInput input_;
  TokenRules rules_;
  Beam beam_;
};

}  // namespace heed::generate
