#include "heed/kernels/routing.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

namespace heed::kernels::cpu {
namespace {

/// The indices of the largest of the eligible values, as many as there is room for, the largest
/// first; ties go to the lower index. `eligible` is restored before this returns.
void find_largest(std::span<const float> values, std::vector<char>& eligible,
                  std::span<int32_t> indices) {
  for (int32_t& index : indices) {
    int32_t best = -1;
    for (int32_t i = 0; i < static_cast<int32_t>(values.size()); ++i) {
      const size_t at = static_cast<size_t>(i);
      if (eligible[at] && (best < 0 || values[at] > values[static_cast<size_t>(best)])) best = i;
    }
    index = best;
    eligible[static_cast<size_t>(best)] = 0;
  }
  for (const int32_t i : indices) eligible[static_cast<size_t>(i)] = 1;
}

/// The sum of values[i] for those indices, in their order.
float sum_of(std::span<const float> values, std::span<const int32_t> indices) {
  float sum = 0.0f;
  for (const int32_t i : indices) sum += values[static_cast<size_t>(i)];
  return sum;
}

/// Selects the experts of one row after another.
class ExpertSelector {
 public:
  ExpertSelector(const RoutingOptions& options, int64_t n_experts)
      : options_(options),
        group_size_(static_cast<size_t>(n_experts / options.n_group)),
        eligible_(static_cast<size_t>(n_experts), 1),
        whole_group_(group_size_, 1),
        best_of_group_(std::min(static_cast<size_t>(options.best_of_group), group_size_)),
        group_scores_(static_cast<size_t>(options.n_group)),
        all_groups_(static_cast<size_t>(options.n_group), 1),
        best_groups_(static_cast<size_t>(options.topk_group)) {}

  /// experts [K], ascending.
  void select(std::span<const float> scores, std::span<int32_t> experts) {
    if (options_.topk_group < options_.n_group) limit_to_groups(scores);
    find_largest(scores, eligible_, experts);
    std::ranges::sort(experts);
  }

 private:
  void limit_to_groups(std::span<const float> scores) {
    for (size_t g = 0; g < group_scores_.size(); ++g) {
      const auto group = scores.subspan(g * group_size_, group_size_);
      find_largest(group, whole_group_, best_of_group_);
      group_scores_[g] = sum_of(group, best_of_group_);
    }
    find_largest(group_scores_, all_groups_, best_groups_);
    std::ranges::fill(eligible_, char{0});
    for (const int32_t g : best_groups_)
      std::ranges::fill(
          std::span(eligible_).subspan(static_cast<size_t>(g) * group_size_, group_size_), char{1});
  }

  const RoutingOptions& options_;
  size_t group_size_;
  std::vector<char> eligible_, whole_group_;
  std::vector<int32_t> best_of_group_;
  std::vector<float> group_scores_;
  std::vector<char> all_groups_;
  std::vector<int32_t> best_groups_;
};

int64_t routing_grain(int64_t n_experts, int64_t top_k) {
  return grain_rows(kLightGrain, n_experts * (top_k + 1));
}

}  // namespace

void select_experts(const Tensor& probabilities, const Tensor& bias, const RoutingOptions& options,
                    Tensor& experts, Tensor& weights) {
  const auto n_experts = static_cast<size_t>(probabilities.cols());
  const auto top_k = static_cast<size_t>(options.top_k);
  const float* const biases = bias.defined() ? bias.data<float>() : nullptr;
  int32_t* const selected = experts.data<int32_t>();
  float* const to = weights.data<float>();
  const auto grain = routing_grain(probabilities.cols(), options.top_k);
  parallel_for(probabilities.rows(), grain, [&](int64_t begin, int64_t end) {
    ExpertSelector selector(options, probabilities.cols());
    std::vector<float> biased(biases ? n_experts : 0);
    for (auto n = static_cast<size_t>(begin); n < static_cast<size_t>(end); ++n) {
      const auto p = probabilities.values<float>().subspan(n * n_experts, n_experts);
      if (biases) std::transform(p.begin(), p.end(), biases, biased.begin(), std::plus());
      const std::span own(selected + n * top_k, top_k);
      selector.select(biases ? std::span<const float>(biased) : p, own);
      const float factor = options.normalize ? options.scale / sum_of(p, own) : options.scale;
      for (size_t k = 0; k < top_k; ++k)
        to[n * top_k + k] = p[static_cast<size_t>(own[k])] * factor;
    }
  });
}

void select_experts_backward(const Tensor& probabilities, const Tensor& experts,
                             const RoutingOptions& options, const Tensor& d_weights,
                             Tensor& d_probabilities) {
  const auto n_experts = static_cast<size_t>(probabilities.cols());
  const auto top_k = static_cast<size_t>(options.top_k);
  float* const to = d_probabilities.data<float>();
  const auto grain = routing_grain(probabilities.cols(), 1);
  parallel_for(probabilities.rows(), grain, [&](int64_t begin, int64_t end) {
    for (auto n = static_cast<size_t>(begin); n < static_cast<size_t>(end); ++n) {
      const auto p = probabilities.values<float>().subspan(n * n_experts, n_experts);
      const auto own = experts.values<int32_t>().subspan(n * top_k, top_k);
      const auto dw = d_weights.values<float>().subspan(n * top_k, top_k);
      const std::span dp(to + n * n_experts, n_experts);
      const float sum = options.normalize ? sum_of(p, own) : 1.0f;
      float mean = 0.0f;  // of dw, weighted by p
      if (options.normalize)
        for (size_t k = 0; k < top_k; ++k) mean += dw[k] * p[static_cast<size_t>(own[k])] / sum;
      std::ranges::fill(dp, 0.0f);
      for (size_t k = 0; k < top_k; ++k)
        dp[static_cast<size_t>(own[k])] = options.scale / sum * (dw[k] - mean);
    }
  });
}

}  // namespace heed::kernels::cpu
