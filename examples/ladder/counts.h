#pragma once

// The first rung: probabilities of the next word from how often it followed the words before.

#include <cmath>
#include <span>
#include <unordered_map>

#include "heed/base/random.h"

namespace ladder {

/// P(w | the n - 1 words before), from the frequencies of all sequences of up to n words.
class Counts {
 public:
  Counts(std::span<const int32_t> text, size_t n, int64_t vocabulary)
      : n_(n),
        vocabulary_(static_cast<double>(vocabulary)),
        words_(static_cast<double>(text.size())) {
    for (size_t end = 1; end <= text.size(); ++end)
      for (size_t length = 1; length <= n && length <= end; ++length)
        ++counts_[name(text.subspan(end - length, length))];
  }

  /// How many different sequences there are to remember.
  size_t size() const { return counts_.size(); }

  /// The probability of the last of the given words after the others. A sequence of n words is
  /// seldom seen often enough, so its frequency is mixed with the estimate from n - 1 words, as if
  /// that had been observed kBelief times; single words are seen half a time more than they are.
  double probability(std::span<const int32_t> words) const {
    if (words.size() > n_) words = words.last(n_);
    if (words.size() == 1) return (count(words) + 0.5) / (words_ + 0.5 * vocabulary_);
    const double shorter = probability(words.subspan(1));
    return (count(words) + kBelief * shorter) / (count(words.first(words.size() - 1)) + kBelief);
  }

  /// exp of the mean -log P: among how many equally probable words it hesitates.
  double perplexity(std::span<const int32_t> text) const {
    double sum = 0;
    for (size_t end = 2; end <= text.size(); ++end)
      sum -= std::log(probability(text.subspan(end < n_ ? 0 : end - n_, std::min(end, n_))));
    return std::exp(sum / static_cast<double>(text.size() - 1));
  }

 private:
  static constexpr double kBelief = 5;

  static uint64_t name(std::span<const int32_t> words) {
    uint64_t hash = words.size();
    for (const int32_t word : words) hash = heed::mix64(hash ^ static_cast<uint64_t>(word));
    return hash;
  }
  double count(std::span<const int32_t> words) const {
    const auto found = counts_.find(name(words));
    return found == counts_.end() ? 0.0 : found->second;
  }

  size_t n_;
  double vocabulary_, words_;
  std::unordered_map<uint64_t, int32_t> counts_;
};

}  // namespace ladder
