#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::metrics {

/// N-gram counts of a hypothesis and its reference for one order.
struct NgramOverlap {
  int64_t hypothesis = 0, reference = 0;  // number of n-grams in each
  int64_t matches = 0;                    // sum over distinct n-grams of the smaller count
};

/// The overlaps for n = 1, ..., max_order. Items are ids of words or characters. Expected time is
/// linear in the lengths times max_order.
std::vector<NgramOverlap> ngram_overlaps(std::span<const int32_t> hypothesis,
                                         std::span<const int32_t> reference, int max_order);

}  // namespace heed::metrics
