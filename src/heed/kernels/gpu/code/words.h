#pragma once

#include "heed/gpu/code/operations.h"

// Accesses of several 32-bit words at a time.

namespace heed::kernels::gpu {

struct alignas(16) Words4 {
  uint32_t words[4];
};
struct alignas(8) Words2 {
  uint32_t words[2];
};

/// `count` words, aligned to 16 bytes if there are 4 of them or a multiple, to 8 if there are 2.
template <int count>
HEED_DEVICE void load_words(const void* from, uint32_t* to) {
  if constexpr (count % 4 == 0) {
    for (int i = 0; i < count / 4; ++i) {
      const Words4 four = static_cast<const Words4*>(from)[i];
      for (int j = 0; j < 4; ++j) to[4 * i + j] = four.words[j];
    }
  } else if constexpr (count == 2) {
    const Words2 two = *static_cast<const Words2*>(from);
    to[0] = two.words[0];
    to[1] = two.words[1];
  } else {
    static_assert(count == 1);
    to[0] = *static_cast<const uint32_t*>(from);
  }
}

/// The same from memory that is read once: other data stays in the first cache.
template <int count>
HEED_DEVICE void load_words_once(const std::byte* from, uint32_t* to) {
  if constexpr (count % 4 == 0)
    for (int i = 0; i < count / 4; ++i) heed::gpu::load_once_16(from + 16 * i, to + 4 * i);
  else
    load_words<count>(from, to);
}

/// 16 bytes, aligned to 16.
HEED_DEVICE void store_words(void* to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  *static_cast<Words4*>(to) = {{a, b, c, d}};
}

}  // namespace heed::kernels::gpu
