#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/nn/feed_forward.h"
#include "heed/ops/mixture.h"

namespace heed::nn {

/// How many experts a mixture has and how a token's are chosen.
struct MixtureSizes {
  int64_t experts = 0;      // E; 0: no mixture
  int64_t chosen = 0;       // experts that a token goes to
  int64_t d_expert = 0;     // hidden units of each
  int64_t shared = 0;       // experts that every token goes to, side by side as one wide one
  float scale = 1.0f;       // of the chosen experts' weights
  bool normalized = false;  // whether the chosen experts' weights are made to sum to 1
  int64_t groups = 1, chosen_groups = 1;  // experts are chosen from the best groups only

  bool present() const { return experts > 0; }
  bool operator==(const MixtureSizes&) const = default;
};

/// Several feed-forward networks behind a router that sends each token to a few of them (Shazeer et
/// al. 2017), beside some that see every token (DeepSeekMoE, Dai et al. 2024).
class Mixture {
 public:
  /// Parameters are `prefix`router, `prefix`experts.E.*, `prefix`shared_experts.*; `expert`
  /// describes one, but for its width.
  Mixture(Parameters& parameters, const std::string& prefix, FeedForward::Settings expert,
          const MixtureSizes& sizes);

  /// x [N, D] -> [N, D].
  Tensor forward(Context& context, const Tensor& x) const;

 private:
  MixtureSizes sizes_;
  Linear router_;
  std::vector<FeedForward> experts_;
  std::optional<FeedForward> shared_;
};

}  // namespace heed::nn
