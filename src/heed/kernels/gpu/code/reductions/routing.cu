#include "heed/kernels/gpu/code/reductions/routing.h"

#include "heed/kernels/gpu/code/reductions/ordered_keys.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Calls taken(i, index) for the `most` largest of a list of keys, the largest first, and replaces
/// them by kNoKey. A lane of the warp has every 32nd key.
template <typename Taken>
HEED_DEVICE void take_largest(uint64_t* keys, int count, int most, const Taken& taken) {
  const int lane = static_cast<int>(thread_index());
  const auto largest_of_lane = [&] {
    uint64_t largest = kNoKey;
    for (int i = lane; i < count; i += 32) largest = larger(largest, keys[i]);
    return largest;
  };
  uint64_t own = largest_of_lane();
  for (int i = 0; i < most; ++i) {
    const uint64_t largest = largest_of_warp(own);
    taken(i, index_of(largest));
    if (own != largest) continue;
    keys[index_of(largest)] = kNoKey;
    own = largest_of_lane();
  }
}

/// The sum of the best scores of a group.
template <typename Score>
HEED_DEVICE float score_of_group(const uint64_t* keys, int size, int best_of_group,
                                 const Score& score) {
  float sum = 0.0f;
  uint64_t bound = ~uint64_t{0};  // no key is as large
  for (int k = 0; k < best_of_group; ++k) {
    uint64_t best = kNoKey;
    for (int i = 0; i < size; ++i)
      if (keys[i] < bound) best = larger(best, keys[i]);
    sum += score(index_of(best));
    bound = best;
  }
  return sum;
}

/// Replaces the keys of experts that are in none of the best groups by kNoKey.
template <typename Score>
HEED_DEVICE void limit_to_groups(const SelectExpertsArguments& in, uint64_t* keys,
                                 uint64_t* group_keys, const Score& score) {
  const int lane = static_cast<int>(thread_index()), size = in.n_experts / in.n_group;
  synchronize();
  for (int g = lane; g < in.n_group; g += 32)
    group_keys[g] = key_of(score_of_group(keys + g * size, size, in.best_of_group, score), g);
  take_largest(group_keys, in.n_group, in.topk_group, [](int, int) {});
  synchronize();
  for (int e = lane; e < in.n_experts; e += 32)
    if (group_keys[e / size] != kNoKey) keys[e] = kNoKey;
}

/// The sum of a row's probabilities of its experts, in their order.
HEED_DEVICE float sum_of_experts(const float* probabilities, const int32_t* experts, int count) {
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) sum += probabilities[experts[k]];
  return sum;
}

}  // namespace

HEED_GPU_KERNEL(select_experts, SelectExpertsArguments, in) {
  uint64_t* const keys = shared_memory<uint64_t>();
  uint64_t* const group_keys = keys + in.n_experts;
  int32_t* const selected = reinterpret_cast<int32_t*>(group_keys + in.n_group);
  int32_t* const ascending = selected + in.top_k;
  const int lane = static_cast<int>(thread_index());
  const float* const p = in.probabilities + int64_t{block_x()} * in.n_experts;
  const auto score = [&](int e) { return in.bias ? p[e] + in.bias[e] : p[e]; };

  for (int e = lane; e < in.n_experts; e += 32) keys[e] = key_of(score(e), e);
  if (in.topk_group < in.n_group) limit_to_groups(in, keys, group_keys, score);
  take_largest(keys, in.n_experts, in.top_k, [&](int k, int expert) {
    if (lane == 0) selected[k] = expert;
  });
  synchronize();
  for (int k = lane; k < in.top_k; k += 32) {
    int before = 0;
    for (int other = 0; other < in.top_k; ++other) before += selected[other] < selected[k];
    ascending[before] = selected[k];
  }
  synchronize();
  const float factor =
      in.normalize ? in.scale / sum_of_experts(p, ascending, in.top_k) : in.scale;
  for (int k = lane; k < in.top_k; k += 32) {
    const int64_t i = int64_t{block_x()} * in.top_k + k;
    in.experts[i] = ascending[k];
    in.weights[i] = p[ascending[k]] * factor;
  }
}

HEED_GPU_KERNEL(select_experts_backward, SelectExpertsBackwardArguments, in) {
  const int lane = static_cast<int>(thread_index());
  const float* const p = in.probabilities + int64_t{block_x()} * in.n_experts;
  float* const dp = in.d_probabilities + int64_t{block_x()} * in.n_experts;
  const int32_t* const experts = in.experts + int64_t{block_x()} * in.top_k;
  const float* const dw = in.d_weights + int64_t{block_x()} * in.top_k;
  for (int e = lane; e < in.n_experts; e += 32) dp[e] = 0.0f;
  synchronize();  // the lanes write to others' places
  float sum = 1.0f, mean = 0.0f;  // of dw, weighted by p
  if (in.normalize) {
    sum = sum_of_experts(p, experts, in.top_k);
    for (int k = 0; k < in.top_k; ++k) mean += dw[k] * p[experts[k]] / sum;
  }
  for (int k = lane; k < in.top_k; k += 32) dp[experts[k]] = in.scale / sum * (dw[k] - mean);
}

}  // namespace heed::kernels::gpu
