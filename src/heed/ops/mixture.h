#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/ops/context.h"
#include "heed/ops/rows.h"

namespace heed::ops {

/// How a token's experts are chosen from the router's probabilities.
struct RoutingOptions {
  int64_t chosen = 1;       // K: experts that a token goes to, those of the largest probabilities
  bool normalized = false;  // whether the weights of a token are made to sum to 1
  float scale = 1.0f;       // what the weights are multiplied with then
  /// Experts stand in `groups` groups of equal size, side by side; a token's are chosen from the
  /// `chosen_groups` groups whose best experts are the likeliest (DeepSeek-V2, 2024, 2.2.2).
  int64_t groups = 1, chosen_groups = 1;
};

/// Which tokens go to which experts. Where probabilities are equal, the lower number is chosen.
class Routing {
 public:
  Routing(int64_t n_experts, int64_t chosen, std::vector<int32_t> experts, Tensor weights);

  int64_t n_experts() const { return n_experts_; }
  /// The tokens that go to an expert, ascending.
  std::span<const int32_t> rows(int64_t expert) const;
  /// A token's experts, ascending: [N K].
  std::span<const int32_t> experts() const { return choices_->experts; }
  /// Where a token stands among the rows of each of its experts: [N K].
  std::span<const int32_t> places() const { return choices_->places; }
  /// What the results of a token's experts are multiplied with: [N, K] f32.
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

/// Chooses every token's experts from the router's probabilities [N, E] f32; the gradient of the
/// weights goes back to the probabilities of the chosen. Throws Error when there are not as many
/// experts or groups as the options ask for.
Routing route(Context& context, const Tensor& probabilities, const RoutingOptions& options);

/// The mixture: token n's sum over its experts e, ascending, of weight times its row of outputs[e]:
/// [N, D]. outputs[e] is what expert e made of gather_rows(x, routing.rows(e)), undefined where it
/// has no rows. A token's result depends on no other token. Throws Error on outputs that do not
/// fit.
Tensor combine(Context& context, const Routing& routing, const std::vector<Tensor>& outputs);

}  // namespace heed::ops
