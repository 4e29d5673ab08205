#include "heed/kernels/routing.h"

#include <algorithm>

#include "heed/kernels/gpu/code/reductions/routing.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

void select_experts(const Tensor& probabilities, const Tensor& bias, const RoutingOptions& options,
                    Tensor& experts, Tensor& weights) {
  if (probabilities.rows() == 0) return;
  const int64_t n_experts = probabilities.cols(), group_size = n_experts / options.n_group;
  launch("select_experts",
         {.x = static_cast<unsigned>(probabilities.rows()),
          .threads = 32,
          .shared_bytes =
              static_cast<size_t>(select_experts_bytes(n_experts, options.n_group, options.top_k))},
         SelectExpertsArguments{
             .probabilities = elements<float>(probabilities),
             .bias = elements<float>(bias),
             .experts = elements<int32_t>(experts),
             .weights = elements<float>(weights),
             .n_experts = static_cast<int>(n_experts),
             .top_k = static_cast<int>(options.top_k),
             .n_group = static_cast<int>(options.n_group),
             .topk_group = static_cast<int>(options.topk_group),
             .best_of_group = static_cast<int>(std::min(options.best_of_group, group_size)),
             .scale = options.scale,
             .normalize = options.normalize});
}

void select_experts_backward(const Tensor& probabilities, const Tensor& experts,
                             const RoutingOptions& options, const Tensor& d_weights,
                             Tensor& d_probabilities) {
  if (probabilities.rows() == 0) return;
  launch("select_experts_backward",
         {.x = static_cast<unsigned>(probabilities.rows()), .threads = 32},
         SelectExpertsBackwardArguments{.probabilities = elements<float>(probabilities),
                                        .experts = elements<int32_t>(experts),
                                        .d_weights = elements<float>(d_weights),
                                        .d_probabilities = elements<float>(d_probabilities),
                                        .n_experts = static_cast<int>(probabilities.cols()),
                                        .top_k = static_cast<int>(options.top_k),
                                        .scale = options.scale,
                                        .normalize = options.normalize});
}

}  // namespace heed::kernels::gpu
