#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed::metrics {

/// N-gram counts of a hypothesis and its references for one order.
struct NgramOverlap {
  int64_t hypothesis = 0, reference = 0;  // number of n-grams; of all references together
  /// The sum over distinct n-grams of the smaller count: that in the hypothesis, or the largest in
  /// a reference.
  int64_t matches = 0;
};

/// Numbers words in the order in which they first occur. The words that it has seen must outlive
/// it.
class WordIds {
 public:
  std::vector<int32_t> operator()(std::span<const std::string_view> words);

 private:
  std::unordered_map<std::string_view, int32_t> ids_;
};

/// The overlaps for n = 1, ..., max_order. Items are ids of words or characters. Expected time is
/// linear in the lengths times max_order.
std::vector<NgramOverlap> ngram_overlaps(std::span<const int32_t> hypothesis,
                                         std::span<const std::vector<int32_t>> references,
                                         int max_order);

}  // namespace heed::metrics
