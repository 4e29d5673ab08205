#include "heed/inspect/attention/weight_encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace heed::inspect {
namespace {

constexpr float kMaxFinite = std::numeric_limits<float>::max();

/// The codes of all weights, in a loop of its own that the compiler vectorises.
std::vector<uint8_t> codes_of(std::span<const float> weights) {
  std::vector<uint8_t> codes(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const float weight = weights[i];
    const float valid = weight > 0.0f && weight <= kMaxFinite ? weight : 0.0f;
    codes[i] = static_cast<uint8_t>(
        static_cast<int32_t>(std::sqrt(std::min(valid, 1.0f)) * 255.0f + 0.5f));
  }
  return codes;
}

void append_run(std::string& bytes, uint64_t zeros) {
  bytes += '\0';
  for (; zeros > 127; zeros >>= 7) bytes += static_cast<char>(0x80u | (zeros & 0x7fu));
  bytes += static_cast<char>(zeros);
}

/// The length of the run whose digits begin at encoded[at]. Moves `at` past the digits.
uint64_t read_run(std::string_view encoded, size_t& at) {
  uint64_t zeros = 0;
  for (int shift = 0;; shift += 7) {
    const auto digit = static_cast<unsigned char>(encoded[at++]);
    zeros |= static_cast<uint64_t>(digit & 0x7fu) << shift;
    if (digit < 0x80) return zeros;
  }
}

}  // namespace

void WeightEncoder::append(int code) {
  if (code < floor_) {
    ++zeros_;
    return;
  }
  if (zeros_ > 0) append_run(bytes_, std::exchange(zeros_, 0));
  bytes_ += static_cast<char>(code);
}

void WeightEncoder::count(int code) {
  ++occurrences_[static_cast<size_t>(code)];
  if (code < previous_) {
    ++run_changes_[static_cast<size_t>(code) + 1];
    --run_changes_[static_cast<size_t>(previous_) + 1];
  }
  previous_ = code;
}

void WeightEncoder::add(std::span<const float> weights) {
  for (const uint8_t code : codes_of(weights)) {
    append(code);
    count(code);
  }
}

void WeightEncoder::raise_floor(int floor) {
  const std::string encoded = std::exchange(bytes_, {});
  const uint64_t trailing_zeros = std::exchange(zeros_, 0);
  floor_ = floor;
  for (size_t at = 0; at < encoded.size();) {
    const auto code = static_cast<unsigned char>(encoded[at++]);
    if (code != 0)
      append(code);
    else
      zeros_ += read_run(encoded, at);
  }
  zeros_ += trailing_zeros;
}

std::array<int64_t, kMaxFloor + 1> WeightEncoder::sizes() const {
  std::array<int64_t, kMaxFloor + 1> sizes{};
  const int64_t all = std::accumulate(occurrences_.begin(), occurrences_.end(), int64_t{0});
  int64_t zeros = 0, runs = 0;
  for (size_t floor = 0; floor < sizes.size(); ++floor) {
    runs += run_changes_[floor];
    zeros += floor > 0 ? occurrences_[floor - 1] : 0;
    sizes[floor] = all - zeros + 2 * runs + zeros / 128;
  }
  return sizes;
}

std::string WeightEncoder::take() {
  if (zeros_ > 0) append_run(bytes_, std::exchange(zeros_, 0));
  return std::move(bytes_);
}

}  // namespace heed::inspect
