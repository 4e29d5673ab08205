#include "heed/data/permutation.h"

#include <utility>

namespace heed::data {
namespace {

/// Four rounds would do for a good cipher; these are cheap.
constexpr uint64_t kFeistelRounds = 6;

}  // namespace

Permutation::Permutation(int64_t size, uint64_t seed, uint64_t stream)
    : size_(static_cast<uint64_t>(size)), random_(seed, stream) {
  while ((uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

int64_t Permutation::operator()(int64_t place) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  auto value = static_cast<uint64_t>(place);
  do {
    uint64_t left = value >> half_bits_, right = value & mask;
    for (uint64_t round = 0; round < kFeistelRounds; ++round) {
      const uint64_t mixed = random_.bits((round << 32) | right);
      left ^= mixed & mask;
      std::swap(left, right);
    }
    value = (left << half_bits_) | right;
  } while (value >= size_);
  return static_cast<int64_t>(value);
}

}  // namespace heed::data
