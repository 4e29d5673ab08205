#pragma once

#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/quantize.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {

inline constexpr DType kStored[] = {DType::f32,  DType::bf16, DType::f16, DType::q8_0,
                                    DType::q4_0, DType::q4_1, DType::q6_K};

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

/// Blocks of random bytes with scales of about 2^-8; plain types hold normal numbers.
inline Tensor random_stored(const Shape& shape, DType dtype, uint64_t seed) {
  Tensor x = Tensor::empty(shape, dtype);
  if (is_plain(dtype)) {
    reference::quantize_weighted(normals(shape, seed), {}, x);
    return x;
  }
  const CounterRandom random(seed);
  for (int64_t i = 0; i < x.bytes(); ++i)
    x.raw()[i] = static_cast<std::byte>(random.bits(static_cast<uint64_t>(i)) >> 50);
  const auto random_scale = [&](uint64_t i) {
    return float16(0x1p-8f * static_cast<float>(random.normal(i)));
  };
  visit_stored(dtype, [&](auto stored) {
    using T = decltype(stored);
    if constexpr (!is_plain(dtype_of<T>))
      for (uint64_t i = 0; i < x.values<T>().size(); ++i) {
        x.data<T>()[i].scale = random_scale(2 * i);
        if constexpr (std::is_same_v<T, BlockQ4_1>)
          x.data<T>()[i].minimum = random_scale(2 * i + 1);
      }
  });
  return x;
}

}  // namespace heed::kernels
