#pragma once

#include <cstdint>

// The arguments of the kernels in routing.cu.
namespace heed::kernels::gpu {

/// A block of one warp has a row of probabilities [rows, n_experts], experts and weights [rows,
/// top_k]. bias [n_experts] or null. best_of_group is at most the size of a group.
struct SelectExpertsArguments {
  const float *probabilities, *bias;
  int32_t* experts;
  float* weights;
  int n_experts, top_k;
  int n_group, topk_group, best_of_group;
  float scale;
  bool normalize;
};

/// Likewise.
struct SelectExpertsBackwardArguments {
  const float* probabilities;
  const int32_t* experts;
  const float* d_weights;
  float* d_probabilities;
  int n_experts, top_k;
  float scale;
  bool normalize;
};

/// Shared memory of select_experts: the keys of experts and groups, and the experts that were
/// selected, twice.
constexpr int64_t select_experts_bytes(int64_t n_experts, int64_t n_group, int64_t top_k) {
  return (n_experts + n_group) * int64_t{sizeof(uint64_t)} + 2 * top_k * int64_t{sizeof(int)};
}

}  // namespace heed::kernels::gpu
