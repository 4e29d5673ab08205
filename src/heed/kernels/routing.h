#pragma once

#include <cstdint>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// How a token's experts are selected from the router's probabilities.
struct RoutingOptions {
  int64_t top_k = 1;       // K: each token goes to the K experts of the largest probabilities
  bool normalize = false;  // whether the weights of a token are divided by their sum
  float scale = 1.0f;      // factor of the weights, after normalisation
  /// Experts are divided into `n_group` groups of equal size, side by side; a token's come from the
  /// `topk_group` best groups: those with the largest sums of their `best_of_group` largest
  /// probabilities (DeepSeek-V2, 2024, 2.2.2, with 1; DeepSeek-V3, 2024, with 2), or of all if a
  /// group has fewer.
  int64_t n_group = 1, topk_group = 1;
  int64_t best_of_group = 1;
};

/// Selects the experts of N tokens from their probabilities [N, E] f32: experts [N, K] i32,
/// ascending in each row. `bias` [E] f32, unless it is undefined, is added to the probabilities for
/// the selection alone (DeepSeek-V3, 2024, 2.1.2). Of equal experts or groups the first one wins.
/// Sums are in f32; that of a group starts with its largest probability. A row with a NaN gets K
/// different experts; one of NaN alone the first K of the first groups. The caller checks the
/// options: K is at most the number of experts of topk_group groups.
///
/// weights [N, K] f32 = p scale, or p scale / sum(p), for the probabilities p of the experts.
HEED_KERNEL(select_experts, void(const Tensor& probabilities, const Tensor& bias,
                                 const RoutingOptions& options, Tensor& experts, Tensor& weights));
/// The gradient of the weights with respect to the probabilities, given the experts that were
/// selected: d_probabilities [N, E] f32, zero for all others.
HEED_KERNEL(select_experts_backward,
            void(const Tensor& probabilities, const Tensor& experts, const RoutingOptions& options,
                 const Tensor& d_weights, Tensor& d_probabilities));

}  // namespace heed::kernels
