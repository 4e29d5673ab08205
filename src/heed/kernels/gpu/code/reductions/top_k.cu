#include "heed/kernels/gpu/code/reductions/top_k.h"

#include "heed/kernels/gpu/code/reductions/ordered_keys.h"
#include "heed/kernels/gpu/code/vectors.h"

// The best elements are found one by one, each as the one with the largest key below that before: k
// is small, and then that needs fewer steps than sorting.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Writes element `i` of a row's result.
HEED_DEVICE void put_best(const TopKArguments& in, int64_t row, int i, uint64_t key, bool nan) {
  const int index = nan || key == kNoKey ? -1 : index_of(key);
  in.indices[row * in.k + i] = index;
  in.values[row * in.k + i] = nan          ? float_of_bits(0x7fc00000u)
                              : index < 0 ? -INFINITY
                                          : in.x[row * in.columns + index];
}

}  // namespace

/// A block a part.
HEED_GPU_KERNEL(top_k_of_parts, TopKArguments, in) {
  constexpr int n = kVector<float>, slots = kTopKColumns / (kTopKThreads * n);
  constexpr int warps = kTopKThreads / 32;
  uint64_t* const of_warps = shared_memory<uint64_t>();
  const int thread = static_cast<int>(thread_index()), warp = thread / 32;
  const int64_t row = block_x() / static_cast<unsigned>(in.parts);
  const int part = static_cast<int>(block_x() % static_cast<unsigned>(in.parts));
  const auto column_of = [&](int slot) {
    return part * kTopKColumns + (slot * kTopKThreads + thread) * n;
  };
  float values[slots][n];
  HEED_UNROLL
  for (int slot = 0; slot < slots; ++slot)
    load_vector(in.x + row * in.columns + column_of(slot), in.columns - column_of(slot), 0.0f,
                values[slot]);
  const auto best_below = [&](uint64_t bound) {
    uint64_t best = kNoKey;
    HEED_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      HEED_UNROLL
      for (int i = 0; i < n; ++i) {
        const int column = column_of(slot) + i;
        const uint64_t key = column < in.columns ? key_of(values[slot][i], column) : kNoKey;
        if (key < bound) best = larger(best, key);
      }
    }
    return best;
  };

  uint64_t own = best_below(~uint64_t{0});  // no element has the largest key
  uint64_t of_warp = largest_of_warp(own), result = kNoKey, first = kNoKey;
  for (int i = 0; i < in.k; ++i) {
    // Two sets take turns, so that one barrier a step is enough.
    uint64_t* const shared = of_warps + i % 2 * warps;
    if (thread % 32 == 0) shared[warp] = of_warp;
    synchronize();
    uint64_t best = shared[0];
    HEED_UNROLL
    for (int w = 1; w < warps; ++w) best = larger(best, shared[w]);
    if (i == 0) first = best;
    if (i == thread) result = best;
    if (of_warp != best || best == kNoKey) continue;  // the same in all lanes
    if (own == best) own = best_below(best);
    of_warp = largest_of_warp(own);
  }
  if (thread >= in.k) return;
  if (in.keys)
    in.keys[int64_t{block_x()} * in.k + thread] = result;
  else
    put_best(in, row, thread, result, first >> 32 == kNanKey);
}

/// A warp a row: a lane has the lists of every 32nd part, and in shared memory how much of each it
/// has taken.
HEED_GPU_KERNEL(top_k_of_rows, TopKArguments, in) {
  int* const taken = shared_memory<int>();
  const int lane = static_cast<int>(thread_index());
  const int64_t row = block_x();
  const uint64_t* const keys = in.keys + row * in.parts * in.k;
  int best_part = lane;
  const auto best_of_lists = [&] {
    uint64_t best = kNoKey;
    for (int part = lane; part < in.parts; part += 32) {
      const uint64_t key = taken[part] < in.k ? keys[part * in.k + taken[part]] : kNoKey;
      if (key > best) best_part = part;
      best = larger(best, key);
    }
    return best;
  };

  for (int part = lane; part < in.parts; part += 32) taken[part] = 0;
  uint64_t own = best_of_lists(), first = kNoKey, result = kNoKey, second_result = kNoKey;
  for (int i = 0; i < in.k; ++i) {
    const uint64_t best = largest_of_warp(own);
    if (i == 0) first = best;
    if (i == lane) result = best;
    if (i == lane + 32) second_result = best;
    if (own == best && best != kNoKey) {
      ++taken[best_part];
      own = best_of_lists();
    }
  }
  const bool nan = first >> 32 == kNanKey;
  if (lane < in.k) put_best(in, row, lane, result, nan);
  if (lane + 32 < in.k) put_best(in, row, lane + 32, second_result, nan);
}

}  // namespace heed::kernels::gpu
