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
        add(text.subspan(end - length, length));
  }

  /// How many different sequences there are to remember.
  size_t size() const { return seen_.size(); }

  /// The probability of the last of the given words after the others. A sequence of n words is
  /// seldom seen often enough, so its frequency is mixed with the estimate from n - 1 words: the
  /// more different words have followed, the less is known of the next (Witten and Bell 1991).
  /// Single words are seen half a time more than they are.
  double probability(std::span<const int32_t> words) const {
    if (words.size() > n_) words = words.last(n_);
    const Seen all = seen(words);
    if (words.size() == 1) return (all.times + 0.5) / (words_ + 0.5 * vocabulary_);
    const double shorter = probability(words.subspan(1));
    const Seen before = seen(words.first(words.size() - 1));
    if (before.kinds == 0) return shorter;
    return (all.times + before.kinds * shorter) / (before.times + before.kinds);
  }

  /// exp of the mean -log P: among how many equally probable words it hesitates.
  double perplexity(std::span<const int32_t> text) const {
    double sum = 0;
    for (size_t end = 2; end <= text.size(); ++end)
      sum -= std::log(probability(text.subspan(end < n_ ? 0 : end - n_, std::min(end, n_))));
    return std::exp(sum / static_cast<double>(text.size() - 1));
  }

 private:
  struct Seen {
    double times = 0;  // how often
    double kinds = 0;  // how many different words came next
  };

  static uint64_t name(std::span<const int32_t> words) {
    uint64_t hash = words.size();
    for (const int32_t word : words) hash = heed::mix64(hash ^ static_cast<uint64_t>(word));
    return hash;
  }
  void add(std::span<const int32_t> words) {
    if (++seen_[name(words)].times == 1 && words.size() > 1)
      ++seen_[name(words.first(words.size() - 1))].kinds;
  }
  Seen seen(std::span<const int32_t> words) const {
    const auto found = seen_.find(name(words));
    return found == seen_.end() ? Seen{} : found->second;
  }

  size_t n_;
  double vocabulary_, words_;
  std::unordered_map<uint64_t, Seen> seen_;
};

}  // namespace ladder
