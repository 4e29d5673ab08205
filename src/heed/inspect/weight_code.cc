#include "heed/inspect/weight_code.h"

#include <algorithm>
#include <cmath>

namespace heed::inspect {
namespace {

int code_of(float weight) {
  if (!(weight > 0.0f) || !std::isfinite(weight)) return 0;
  return static_cast<int>(std::sqrt(std::min(weight, 1.0f)) * 255.0f + 0.5f);
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
  for (const float weight : weights) {
    const int code = code_of(weight);
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
