#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The biases of disentangled attention (He et al. 2021, DeBERTa, equation 4): what the positions
/// of a query i and a key j of one sequence add to their score. With c = rows[i - j + R - 1], the
/// row of the distance between them in two tables:
///
///     bias(i, j) = scale (q_i · position_keys_c + k_j · position_queries_c)
///
/// for every head. q, k [N, H d], of the sequences `offsets` [B+1]; the tables [W, H d] of the same
/// dtype, either of which may be undefined, without its term. `rows` [2R - 1] are valid rows of the
/// tables and do not decrease (the caller checks); no sequence has more than R tokens.
struct DisentangledBias {
  const Tensor &q, &k;
  const Tensor &position_keys, &position_queries;
  const std::vector<int32_t>& offsets;
  std::span<const int32_t> rows;
  int64_t n_heads = 1;
  float scale = 1.0f;

  /// The pairs of tokens of all sequences, P.
  int64_t pairs() const {
    int64_t sum = 0;
    for (size_t b = 0; b + 1 < offsets.size(); ++b)
      sum += int64_t{offsets[b + 1] - offsets[b]} * (offsets[b + 1] - offsets[b]);
    return sum;
  }
};

/// All are written, in the dtype of q; those of undefined tables are undefined.
struct DisentangledGradients {
  Tensor &dq, &dk;
  Tensor &d_position_keys, &d_position_queries;
};

/// bias [H, P] f32: the pairs of the sequences one after the other, each a matrix [T, T] of queries
/// and keys (AttentionForward::pair_bias). A row depends only on its own sequence.
HEED_KERNEL(disentangled_bias_forward, void(const DisentangledBias& in, Tensor& bias));
/// The order of all sums is fixed.
HEED_KERNEL(disentangled_bias_backward, void(const DisentangledBias& in, const Tensor& d_bias,
                                             DisentangledGradients gradients));

}  // namespace heed::kernels
