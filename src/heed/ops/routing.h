#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/ops/context.h"
#include "heed/ops/rows.h"

namespace heed::ops {

/// How a token's experts are selected from the router's probabilities.
struct RoutingOptions {
  int64_t top_k = 1;       // K: each token goes to the K experts of the largest probabilities
  bool normalize = false;  // whether the weights of a token are divided by their sum
  float scale = 1.0f;      // factor of the weights, after normalisation
  /// Experts are divided into `n_group` groups of equal size, side by side; a token's come from the
  /// `topk_group` best groups: those with the largest sums of their `best_of_group` largest
  /// probabilities (DeepSeek-V2, 2024, 2.2.2, with 1; DeepSeek-V3, 2024, with 2).
  int64_t n_group = 1, topk_group = 1;
  int64_t best_of_group = 1;
};

/// Which tokens go to which experts. Of equal probabilities, the expert with the lower index wins.
class Routing {
 public:
  /// experts [N K]: of each token, ascending; weights [N, K] f32.
  Routing(int64_t n_experts, int64_t top_k, std::vector<int32_t> experts, Tensor weights);

  int64_t n_experts() const { return n_experts_; }
  /// The tokens that go to an expert, ascending.
  std::span<const int32_t> rows(int64_t expert) const;
  /// A token's experts, ascending: [N K].
  std::span<const int32_t> experts() const { return choices_->experts; }
  /// The index of a token among the rows of each of its experts: [N K].
  std::span<const int32_t> places() const { return choices_->places; }
  /// The factors of the outputs of a token's experts: [N, K] f32.
  const Tensor& weights() const { return weights_; }

 private:
  struct Choices {
    std::vector<int32_t> experts, places;
    std::vector<int32_t> rows;     // [N K], expert by expert
    std::vector<int32_t> offsets;  // [E + 1], into rows
  };
  int64_t n_experts_;
  std::shared_ptr<const Choices> choices_;  // shared with the tape
  Tensor weights_;
};

/// 1 / (1 + exp(-x)) of x [N, E] f32: probabilities of experts that do not depend on one another.
Tensor sigmoid(Context& context, const Tensor& x);

/// Selects every token's experts from the router's probabilities [N, E] f32. If given, `bias` [E]
/// f32 is added to them for the selection, but not for the weights (DeepSeek-V3, 2024, 2.1.2). The
/// gradient of the weights goes back to the probabilities of the selected experts; the bias has
/// none. Throws Error when there are fewer experts or groups than the options require.
Routing route(Context& context, const Tensor& probabilities, const RoutingOptions& options,
              const Tensor& bias = {});

/// The output of a mixture of experts [N, D]: row n is the sum, over the token's experts in
/// ascending order, of weight times the token's row of outputs[e]. outputs[e] is the output of
/// expert e for gather_rows(x, routing.rows(e)); undefined without rows. A token's result depends
/// on no other token. Throws Error on outputs that do not fit.
Tensor combine(Context& context, const Routing& routing, const std::vector<Tensor>& outputs);

}  // namespace heed::ops
