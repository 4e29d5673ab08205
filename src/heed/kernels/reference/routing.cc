#include "heed/kernels/routing.h"

#include <algorithm>
#include <vector>

namespace heed::kernels::reference {
namespace {

/// The indices of the `count` largest of the candidates, the largest first; of equal ones the
/// first.
std::vector<int64_t> largest(const std::vector<float>& values, std::vector<bool> is_candidate,
                             int64_t count) {
  std::vector<int64_t> indices;
  for (int64_t k = 0; k < count; ++k) {
    int64_t best = -1;
    for (int64_t i = 0; i < std::ssize(values); ++i)
      if (is_candidate[static_cast<size_t>(i)] &&
          (best < 0 || values[static_cast<size_t>(i)] > values[static_cast<size_t>(best)]))
        best = i;
    is_candidate[static_cast<size_t>(best)] = false;
    indices.push_back(best);
  }
  return indices;
}

/// Whether each expert is in one of the best groups.
std::vector<bool> in_best_groups(const std::vector<float>& scores, const RoutingOptions& options) {
  const int64_t group_size = std::ssize(scores) / options.n_group;
  std::vector<float> sums;
  for (int64_t g = 0; g < options.n_group; ++g) {
    std::vector<bool> in_group(scores.size(), false);
    std::fill_n(in_group.begin() + g * group_size, group_size, true);
    float sum = 0.0f;
    for (const int64_t e : largest(scores, in_group, std::min(options.best_of_group, group_size)))
      sum += scores[static_cast<size_t>(e)];
    sums.push_back(sum);
  }
  std::vector<bool> found(scores.size(), false);
  const std::vector<bool> all_groups(sums.size(), true);
  for (const int64_t g : largest(sums, all_groups, options.topk_group))
    std::fill_n(found.begin() + g * group_size, group_size, true);
  return found;
}

}  // namespace

void select_experts(const Tensor& probabilities, const Tensor& bias, const RoutingOptions& options,
                    Tensor& experts, Tensor& weights) {
  const int64_t n_experts = probabilities.cols(), top_k = options.top_k;
  for (int64_t n = 0; n < probabilities.rows(); ++n) {
    const float* p = probabilities.data<float>() + n * n_experts;
    std::vector<float> scores(p, p + n_experts);
    if (bias.defined())
      for (int64_t e = 0; e < n_experts; ++e)
        scores[static_cast<size_t>(e)] += bias.data<float>()[e];
    std::vector<int64_t> selected = largest(scores, in_best_groups(scores, options), top_k);
    std::ranges::sort(selected);
    double sum = 0.0;
    for (const int64_t e : selected) sum += p[e];
    for (int64_t k = 0; k < top_k; ++k) {
      const int64_t e = selected[static_cast<size_t>(k)];
      experts.data<int32_t>()[n * top_k + k] = static_cast<int32_t>(e);
      weights.data<float>()[n * top_k + k] = static_cast<float>(
          static_cast<double>(p[e]) * options.scale / (options.normalize ? sum : 1.0));
    }
  }
}

void select_experts_backward(const Tensor& probabilities, const Tensor& experts,
                             const RoutingOptions& options, const Tensor& d_weights,
                             Tensor& d_probabilities) {
  const int64_t n_experts = probabilities.cols(), top_k = options.top_k;
  d_probabilities.fill_zero();
  for (int64_t n = 0; n < probabilities.rows(); ++n) {
    const float* p = probabilities.data<float>() + n * n_experts;
    const float* dw = d_weights.data<float>() + n * top_k;
    const int32_t* selected = experts.data<int32_t>() + n * top_k;
    double sum = 1.0, mean = 0.0;  // of dw, weighted by p
    if (options.normalize) {
      sum = 0.0;
      for (int64_t k = 0; k < top_k; ++k) sum += p[selected[k]];
      for (int64_t k = 0; k < top_k; ++k) mean += static_cast<double>(dw[k]) * p[selected[k]] / sum;
    }
    for (int64_t k = 0; k < top_k; ++k)
      d_probabilities.data<float>()[n * n_experts + selected[k]] =
          static_cast<float>(options.scale / sum * (dw[k] - mean));
  }
}

}  // namespace heed::kernels::reference
