#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/generate/search.h"

namespace heed::generate {

/// A hypothesis that is still growing.
struct Path {
  std::vector<int32_t> tokens;      // chosen so far
  std::vector<int32_t> cache_rows;  // of the keys and values of each input token
  double log_probability = 0;
};

/// The beam of one source: the paths that are still growing and the hypotheses that have ended.
class Beam {
 public:
  /// Paths end with one of `eos_ids`, at the latest with `max_new_tokens` tokens.
  Beam(const SearchOptions& options, std::vector<int32_t> eos_ids, int64_t max_new_tokens)
      : options_(options),
        eos_ids_(std::move(eos_ids)),
        max_new_tokens_(max_new_tokens),
        paths_(1) {}

  /// The growing paths. Empty once the search has ended.
  std::vector<Path>& paths() { return paths_; }
  const std::vector<Path>& paths() const { return paths_; }

  /// Adds a token to each path: row i of `log_probabilities` [paths, V] is about path i.
  void advance(std::span<const float> log_probabilities);
  /// The same for a beam of one path: appends `token` without keeping its probability.
  void follow(int32_t token);

  /// The n best hypotheses, best first; if none has ended, those cut at the greatest length.
  std::vector<Hypothesis> best() const;

 private:
  struct Candidate {
    double log_probability;
    int32_t path, token;
    /// Better first; ties go to the earlier path, then to the smaller token.
    bool operator<(const Candidate& other) const;
  };
  std::vector<Candidate> candidates(std::span<const float> log_probabilities) const;
  bool ends(int32_t token) const;
  void end(const Path& path, double log_probability);
  void end_search_when_due();

  SearchOptions options_;
  std::vector<int32_t> eos_ids_;
  int64_t max_new_tokens_;
  std::vector<Path> paths_;
  std::vector<Hypothesis> ended_;
};

}  // namespace heed::generate
