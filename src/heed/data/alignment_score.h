#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/batch.h"

namespace heed::data {

/// How probable tokens are as translations of others: IBM model 1 (Brown et al. 1993), in both
/// directions, learned from pairs of a corpus.
class AlignmentModel {
 public:
  /// Learns from the pairs by a few rounds of expectation maximisation. A pure function of them.
  explicit AlignmentModel(std::span<const Example> pairs);

  /// The mean log probability in nats of the tokens of each side given the other, the mean of both
  /// sides: about -3 for translations, less for pairs that have nothing to do with each other. Any
  /// number of threads may ask at once.
  double score(const Example& pair) const;

 private:
  /// t(target | source) of the pairs of tokens that occur together, in a table by their hash.
  class Table {
   public:
    void learn(std::span<const Example> pairs, bool reversed);
    double log_probability(const Example& pair, bool reversed) const;

   private:
    struct Entry {
      uint64_t key = 0;  // 0: none
      float probability = 0, count = 0;
    };
    Entry& entry(uint64_t key);
    const Entry* find(uint64_t key) const;
    void grow();

    std::vector<Entry> entries_ = std::vector<Entry>(1024);  // at most half are filled
    size_t filled_ = 0;
  };

  Table forward_, backward_;
};

}  // namespace heed::data
