#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/generate/decoding.h"
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
        paths_(1) {}

  /// The unfinished hypotheses; empty once the search has ended.
  std::vector<Path>& paths() { return paths_; }
  const std::vector<Path>& paths() const { return paths_; }

  /// One step of beam search. Row i of `log_probabilities` [paths, V] belongs to path i.
  void advance(std::span<const float> log_probabilities);
  /// One step of greedy search, for a beam with one path: appends `token`. Scores stay 0.
  void append(int32_t token);

  /// The n_best finished hypotheses, best first.
  std::vector<Hypothesis> best() const;

 private:
  struct Candidate {
    double log_probability;
    int32_t path, token;
    /// Higher probability first; ties: the earlier path, then the smaller token.
    bool operator<(const Candidate& other) const;
  };
  std::vector<Candidate> candidates(std::span<const float> log_probabilities) const;
  bool is_end(int32_t token) const;
  void finish(const Path& path, double log_probability);
  void finish_search_if_complete();

  SearchOptions options_;
  std::vector<int32_t> eos_ids_;
  int64_t max_new_tokens_;
  std::vector<Path> paths_;
  std::vector<Hypothesis> finished_;
};

/// Tokens that end an output, and those that it never has (their probability counts as 0).
struct TokenRules {
  std::vector<int32_t> eos_ids, bad_ids = {};
};

/// Greedy or beam search for one request.
class BeamDecoding : public Decoding {
 public:
  BeamDecoding(const SearchOptions& options, const GeneratorInput& input, TokenRules rules)
      : greedy_(options.num_beams == 1 && !options.scores),
        max_paths_(options.num_beams),
        prompt_(input.prompt),
        bad_ids_(std::move(rules.bad_ids)),
        beam_(options, std::move(rules.eos_ids), input.max_new_tokens) {}

  std::span<const int32_t> prompt() const override { return prompt_; }
  std::span<Path> paths() override { return beam_.paths(); }
  bool ended() const override { return beam_.paths().empty(); }
  void advance(Tensor& logits) override;

  int64_t max_paths() const { return max_paths_; }
  /// The n_best hypotheses, best first, once it has ended.
  std::vector<Hypothesis> best() const { return beam_.best(); }

 private:
  bool greedy_;  // without scores
  int64_t max_paths_;
  std::vector<int32_t> prompt_, bad_ids_;
  Beam beam_;
};

}  // namespace heed::generate
