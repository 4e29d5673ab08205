#pragma once

#include <cmath>
#include <cstdint>

namespace heed {

/// Mixes 64 bits (the finaliser of SplitMix64, Steele et al. 2014).
inline uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A counter-based random number generator: each number is a pure function of (seed, stream,
/// counter), so any of them can be recomputed in any order and on any thread.
class CounterRandom {
 public:
  explicit CounterRandom(uint64_t seed, uint64_t stream = 0) : key_(mix64(mix64(seed) ^ stream)) {}

  uint64_t bits(uint64_t counter) const { return mix64(key_ ^ mix64(counter)); }

  /// Uniform in [0, 1).
  double uniform(uint64_t counter) const {
    return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
  }

  /// Standard normal: Box-Muller on uniform(2 * counter) and uniform(2 * counter + 1).
  double normal(uint64_t counter) const {
    const double u = 1.0 - uniform(2 * counter);
    const double v = uniform(2 * counter + 1);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * 3.14159265358979323846 * v);
  }

  /// Uniform in {0, ..., bound - 1}; 0 < bound <= 2^53.
  uint64_t below(uint64_t counter, uint64_t bound) const {
    return static_cast<uint64_t>(uniform(counter) * static_cast<double>(bound));
  }

 private:
  uint64_t key_;
};

}  // namespace heed
