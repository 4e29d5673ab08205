#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::metrics {

/// How the n-grams of a hypothesis agree with those of its reference.
struct NgramOverlap {
  int64_t hypothesis = 0, reference = 0;  // how many n-grams each has
  int64_t matches = 0;                    // sum over n-grams of the smaller of the two counts
};

/// The overlap for n = 1 ... max_order, first n = 1. Items (words, characters) are equal when their
/// numbers are. Expected linear time in the lengths times max_order.
std::vector<NgramOverlap> ngram_overlaps(std::span<const int32_t> hypothesis,
                                         std::span<const int32_t> reference, int max_order);

}  // namespace heed::metrics
