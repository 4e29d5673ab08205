#pragma once

#include <cstdint>

#include "heed/gpu/code/operations.h"

// Elements that are loaded and stored together.

namespace heed::kernels::gpu {

/// `count` neighbours in memory; by default 16 bytes, the widest access.
template <typename T, int count = 16 / sizeof(T)>
struct alignas(sizeof(T) * count) Pack {
  static constexpr int kCount = count;
  T at[count];
};

/// Whether packs can be loaded from an address, or stored to it.
template <typename Pack>
HEED_DEVICE bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % sizeof(Pack) == 0;
}

/// Elements of an operation on `count` elements that a block computes: those from `begin` on.
struct BlockElements {
  int64_t begin;
  int count;
};

/// Divides the elements among blocks, one Pack for each thread. The host starts
/// blocks_for(count, threads * Pack::kCount).
template <typename Pack>
HEED_DEVICE BlockElements elements_of_block(int64_t count) {
  const int each = static_cast<int>(heed::gpu::block_threads()) * Pack::kCount;
  const int64_t begin = static_cast<int64_t>(heed::gpu::block_x()) * each;
  return {begin, static_cast<int>(count - begin < each ? count - begin : each)};
}

}  // namespace heed::kernels::gpu
