#include "heed/inspect/weight_code.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heed::inspect {
namespace {

constexpr float kMaxFinite = std::numeric_limits<float>::max();

/// The codes of all weights. A separate loop so that the compiler vectorises it.
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

}  // namespace

std::string packed_weights(std::span<const float> weights, int floor) {
  std::string bytes;
  uint64_t zeros = 0;
  for (const uint8_t code : codes_of(weights)) {
    if (code < floor) {
      ++zeros;
      continue;
    }
    if (zeros > 0) append_run(bytes, zeros);
    zeros = 0;
    bytes += static_cast<char>(code);
  }
  if (zeros > 0) append_run(bytes, zeros);
  return bytes;
}

std::array<int64_t, kMaxFloor + 1> packed_sizes(std::span<const float> weights) {
  // With floor f, a run of zeros begins where a code is below f and the previous code is not, that
  // is for the floors code + 1 to previous. run_changes holds the differences between adjacent
  // floors.
  std::array<int64_t, 257> occurrences{}, run_changes{};
  int previous = 255;
  for (const int code : codes_of(weights)) {
    ++occurrences[static_cast<size_t>(code)];
    if (code < previous) {
      ++run_changes[static_cast<size_t>(code) + 1];
      --run_changes[static_cast<size_t>(previous) + 1];
    }
    previous = code;
  }
  std::array<int64_t, kMaxFloor + 1> sizes{};
  int64_t zeros = 0, runs = 0;
  for (size_t floor = 0; floor < sizes.size(); ++floor) {
    runs += run_changes[floor];
    zeros += floor > 0 ? occurrences[floor - 1] : 0;
    sizes[floor] = static_cast<int64_t>(weights.size()) - zeros + 2 * runs + zeros / 128;
  }
  return sizes;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = (group << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i)
      text += i <= count ? kDigits[(group >> (18 - 6 * i)) & 63u] : '=';
  }
  return text;
}

}  // namespace heed::inspect
