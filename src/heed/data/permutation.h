#pragma once

#include <cstdint>

#include "heed/base/random.h"

namespace heed::data {

/// A pseudo-random permutation of 0 ... size - 1. Each element is computed by itself, so a
/// permutation takes no memory: a Feistel network permutes a power of four that is at least the
/// size, and results beyond the size go through it again (cycle walking; Black and Rogaway 2002).
class Permutation {
 public:
  /// A pure function of the arguments; 1 <= size <= 2^60.
  Permutation(int64_t size, uint64_t seed, uint64_t stream);

  /// The element at a place; 0 <= place < size.
  int64_t operator()(int64_t place) const;

 private:
  uint64_t size_;
  CounterRandom random_;
  int half_bits_ = 1;
};

}  // namespace heed::data
