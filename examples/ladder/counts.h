#pragma once

// The baseline: an n-gram model, which predicts the next word from counts.

#include <cmath>
#include <span>
#include <unordered_map>

#include "heed/base/random.h"

namespace ladder {

/// P(w | the n - 1 words before), from the counts of all sequences of up to n words.
class Counts {
 public:
  Counts(std::span<const int32_t> text, size_t n, int64_t vocabulary)
      : n_(n),
        vocabulary_(static_cast<double>(vocabulary)),
        words_(static_cast<double>(text.size())) {
    for (size_t end = 1; end <= text.size(); ++end)
      for (size_t length = 1; length <= n && length <= end; ++length)
        add(text.subspan(end - length, length));
  }

  /// The number of different sequences counted.
  size_t size() const { return seen_.size(); }

  /// The probability of the last of `words` after the others. Long sequences are rare, so the
  /// estimate is interpolated with that of the sequence without its first word; the weight of the
  /// shorter one grows with the number of different continuations seen (Witten and Bell 1991).
  /// The count of a single word is increased by 0.5.
  double probability(std::span<const int32_t> words) const {
    if (words.size() > n_) words = words.last(n_);
    const Seen all = seen(words);
    if (words.size() == 1) return (all.times + 0.5) / (words_ + 0.5 * vocabulary_);
    const double shorter = probability(words.subspan(1));
    const Seen before = seen(words.first(words.size() - 1));
    if (before.kinds == 0) return shorter;
    return (all.times + before.kinds * shorter) / (before.times + before.kinds);
  }

  /// exp of the mean negative log-likelihood per word.
  double perplexity(std::span<const int32_t> text) const {
    double sum = 0;
    for (size_t end = 2; end <= text.size(); ++end)
      sum -= std::log(probability(text.subspan(end < n_ ? 0 : end - n_, std::min(end, n_))));
    return std::exp(sum / static_cast<double>(text.size() - 1));
  }

 private:
  struct Seen {
    double times = 0;  // number of occurrences
    double kinds = 0;  // number of different words that followed
  };

  static uint64_t hash(std::span<const int32_t> words) {
    uint64_t value = words.size();
    for (const int32_t word : words) value = heed::mix64(value ^ static_cast<uint64_t>(word));
    return value;
  }
  void add(std::span<const int32_t> words) {
    if (++seen_[hash(words)].times == 1 && words.size() > 1)
      ++seen_[hash(words.first(words.size() - 1))].kinds;
  }
  Seen seen(std::span<const int32_t> words) const {
    const auto found = seen_.find(hash(words));
    return found == seen_.end() ? Seen{} : found->second;
  }

  size_t n_;
  double vocabulary_, words_;
  std::unordered_map<uint64_t, Seen> seen_;
};

}  // namespace ladder
