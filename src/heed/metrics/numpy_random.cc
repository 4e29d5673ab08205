#include "heed/metrics/numpy_random.h"

#include <array>
#include <bit>

namespace heed::metrics {
namespace {

/// numpy's SeedSequence of one integer: a pool of four words into which the seed is mixed.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 4> entropy = {static_cast<uint32_t>(seed),
                                             static_cast<uint32_t>(seed >> 32), 0, 0};
    for (size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(entropy[i]);
    for (size_t from = 0; from < pool_.size(); ++from)
      for (size_t to = 0; to < pool_.size(); ++to)
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
  }

  /// generate_state(4, uint64).
  std::array<uint64_t, 4> words() const {
    std::array<uint64_t, 4> words{};
    uint32_t constant = 0x8B51F9DD;
    for (size_t i = 0; i < 2 * words.size(); ++i) {
      uint32_t value = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58F38DED;
      value *= constant;
      value ^= value >> 16;
      words[i / 2] |= static_cast<uint64_t>(value) << (32 * (i % 2));
    }
    return words;
  }

 private:
  uint32_t hash(uint32_t value) {
    value ^= constant_;
    constant_ *= 0x931E8875;
    value *= constant_;
    return value ^ value >> 16;
  }
  static uint32_t mix(uint32_t x, uint32_t y) {
    const uint32_t value = 0xCA01F9DD * x - 0x4973F715 * y;
    return value ^ value >> 16;
  }

  uint32_t constant_ = 0x43B0D7E5;
  std::array<uint32_t, 4> pool_{};
};

constexpr uint64_t kMultiplierHigh = 2549297995355413924, kMultiplierLow = 4865540595714422341;

}  // namespace

NumpyGenerator::NumpyGenerator(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).words();
  const Uint128 start = static_cast<Uint128>(words[0]) << 64 | words[1];
  increment_ = (static_cast<Uint128>(words[2]) << 64 | words[3]) << 1 | 1;
  next64();
  state_ += start;
  next64();
}

uint64_t NumpyGenerator::next64() {
  state_ = state_ * (static_cast<Uint128>(kMultiplierHigh) << 64 | kMultiplierLow) + increment_;
  const auto high = static_cast<uint64_t>(state_ >> 64), low = static_cast<uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

uint32_t NumpyGenerator::next32() {
  if (has_half_) {
    has_half_ = false;
    return high_half_;
  }
  const uint64_t word = next64();
  has_half_ = true;
  high_half_ = static_cast<uint32_t>(word >> 32);
  return static_cast<uint32_t>(word);
}

/// Lemire's multiplication with rejection (2019).
uint32_t NumpyGenerator::integer(uint64_t count) {
  if (count == 1) return 0;
  if (count == uint64_t{1} << 32) return next32();
  const uint64_t threshold = ((uint64_t{1} << 32) - count) % count;
  for (;;) {
    const uint64_t product = next32() * count;
    if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32);
  }
}

bool NumpyGenerator::Bools::next() {
  if (left_ == 0) {
    word_ = generator_.next32();
    left_ = 32;
  }
  --left_;
  const bool value = (word_ & 1) != 0;
  word_ >>= 1;
  return value;
}

}  // namespace heed::metrics
