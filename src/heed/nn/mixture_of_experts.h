#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/nn/feed_forward.h"
#include "heed/ops/routing.h"

namespace heed::nn {

/// How the router's scores become probabilities: over all experts together, or of each on its own,
/// and then a stored bias is added for the selection (DeepSeek-V3).
enum class RouterScoring { softmax, sigmoid };

/// "softmax" or "sigmoid".
constexpr std::string_view name_of(RouterScoring scoring) {
  return scoring == RouterScoring::softmax ? "softmax" : "sigmoid";
}

/// The sizes of a mixture of experts, and how a token's experts are selected.
struct MoeConfig {
  int64_t n_experts = 0;               // E, routed; 0: no mixture
  int64_t experts_per_token = 0;       // K
  int64_t d_expert = 0;                // hidden units of each expert
  int64_t n_shared_experts = 0;        // see every token; side by side as one wide network
  float routed_scaling_factor = 1.0f;  // of the selected experts' weights
  bool norm_topk_prob = false;         // whether the selected experts' weights are made to sum to 1
  int64_t n_group = 1, topk_group = 1;  // experts are selected from the best groups only

  RouterScoring scoring = RouterScoring::softmax;
  bool router_bias = false;  // added to the scores
  /// Added to the weighted sum of the experts' outputs, in place of biases of the experts (nomic).
  bool output_bias = false;

  bool present() const { return n_experts > 0; }
  bool operator==(const MoeConfig&) const = default;
};

/// Several feed-forward networks after a router that sends each token to a few of them (Shazeer et
/// al. 2017), beside shared ones that see every token (DeepSeekMoE, Dai et al. 2024).
class MixtureOfExperts {
 public:
  /// Parameters are `prefix`router (with a bias if it has one; with sigmoid also
  /// router.e_score_correction_bias, which training does not change), `prefix`experts.E.*,
  /// `prefix`experts.bias, `prefix`shared_experts.*; `expert` describes one expert, but for its
  /// width.
  MixtureOfExperts(Parameters& parameters, const std::string& prefix, FeedForward::Settings expert,
                   const MoeConfig& config);

  /// x [N, D] -> [N, D].
  Tensor forward(Context& context, const Tensor& x) const;

 private:
  Tensor output_bias(Context& context, int64_t rows) const;

  RouterScoring scoring_;
  ops::RoutingOptions routing_;
  Linear router_;
  const Parameter& bias_;         // for the selection; absent with softmax
  const Parameter& output_bias_;  // [1, D]
  std::vector<FeedForward> experts_;
  std::optional<FeedForward> shared_;
};

}  // namespace heed::nn
