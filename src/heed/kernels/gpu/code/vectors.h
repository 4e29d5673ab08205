#pragma once

#include <cstdint>

#include "heed/kernels/gpu/code/numbers.h"

// Neighbouring elements that a thread reads and writes at once, 16 bytes where they are aligned.

/// Before a loop over an array in registers, which cannot be indexed.
#ifdef __CUDACC__
#define HEED_UNROLL _Pragma("unroll")
#else
#define HEED_UNROLL
#endif

namespace heed::kernels::gpu {

/// Elements of 16 bytes.
template <typename T>
constexpr int kVector = static_cast<int>(16 / sizeof(T));

template <typename T, int n>
struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Vector {
  T elements[n];

  static HEED_DEVICE bool is_aligned(const void* address) {
    return reinterpret_cast<uintptr_t>(address) % alignof(Vector) == 0;
  }
};

/// values = from[0, n), of which the first `exist` exist; the others get `absent`.
template <int n, typename T>
HEED_DEVICE void load_vector(const T* from, int64_t exist, float absent, float (&values)[n]) {
  using Elements = Vector<T, n>;
  if (exist >= n && Elements::is_aligned(from)) {
    const Elements loaded = *reinterpret_cast<const Elements*>(from);
    HEED_UNROLL
    for (int i = 0; i < n; ++i) values[i] = wide(loaded.elements[i]);
  } else {
    HEED_UNROLL
    for (int i = 0; i < n; ++i) values[i] = i < exist ? wide(from[i]) : absent;
  }
}

/// to[0, n) = values, but for those that do not exist.
template <int n, typename T>
HEED_DEVICE void store_vector(const float (&values)[n], int64_t exist, T* to) {
  using Elements = Vector<T, n>;
  if (exist >= n && Elements::is_aligned(to)) {
    Elements stored;
    HEED_UNROLL
    for (int i = 0; i < n; ++i) stored.elements[i] = narrow<T>(values[i]);
    *reinterpret_cast<Elements*>(to) = stored;
  } else {
    HEED_UNROLL
    for (int i = 0; i < n; ++i)
      if (i < exist) to[i] = narrow<T>(values[i]);
  }
}

}  // namespace heed::kernels::gpu
