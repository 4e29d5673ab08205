#include "gpu_simulator/tensor_core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heed::gpu_simulator {
namespace {

constexpr int kZeroExponent = -1000;  // below that of any product

/// A value of significand 2^(exponent - fraction bits).
struct Term {
  int64_t significand = 0;
  int exponent = kZeroExponent;
};

/// The significand of a finite f32 with 23 fractional bits, not negative.
Term parts_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 255);
  const int64_t mantissa = bits & 0x7fffff;
  // Subnormal numbers have the exponent of the smallest normal ones.
  return {exponent != 0 ? mantissa | 0x800000 : mantissa, std::max(exponent, 1) - 127};
}

/// a b with 46 fractional bits.
Term product(float a, float b) {
  if (a == 0 || b == 0) return {};
  const Term first = parts_of(a), second = parts_of(b);
  const int64_t significand = first.significand * second.significand;
  return {std::signbit(a) != std::signbit(b) ? -significand : significand,
          first.exponent + second.exponent};
}

/// x / 2^shift, or x 2^-shift, cut towards zero.
int64_t shifted_right(int64_t x, int shift) {
  if (shift > 62) return 0;
  const int64_t size = x < 0 ? -x : x;
  const int64_t cut = shift >= 0 ? size >> shift : size << -shift;
  return x < 0 ? -cut : cut;
}

}  // namespace

float fused_sum(std::span<const float> a, std::span<const float> b, float c, int bits) {
  float plain = c;
  for (size_t i = 0; i < a.size(); ++i) plain += a[i] * b[i];
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(a, is_finite) || !std::ranges::all_of(b, is_finite) || !is_finite(c))
    return plain;

  std::array<Term, 17> terms;
  const size_t count = a.size() + 1;
  for (size_t i = 0; i < a.size(); ++i) terms[i] = product(a[i], b[i]);
  terms[a.size()] = product(c, 1);
  int largest = kZeroExponent;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, terms[i].exponent);
  if (largest == kZeroExponent) return 0;

  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += shifted_right(terms[i].significand, 46 - bits + (largest - terms[i].exponent));
  if (sum == 0) return 0;
  auto size = static_cast<uint64_t>(sum < 0 ? -sum : sum);
  int exponent = largest - bits;
  const int excess = 63 - std::countl_zero(size) - 23;
  if (excess > 0) {
    size >>= excess;
    exponent += excess;
  }
  const float value = std::ldexp(static_cast<float>(size), exponent);
  return sum < 0 ? -value : value;
}

float sum_of_16(std::span<const float, 16> a, std::span<const float, 16> b, float c,
                TensorCores cores) {
  if (cores == TensorCores::hopper) return fused_sum(a, b, c, 25);
  const float half = fused_sum(a.first<8>(), b.first<8>(), c, 24);
  return fused_sum(a.last<8>(), b.last<8>(), half, 24);
}

}  // namespace heed::gpu_simulator
