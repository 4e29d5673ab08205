#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/kernels/routing.h"
#include "heed/ops/context.h"
#include "heed/ops/rows.h"

namespace heed::ops {

using kernels::RoutingOptions;

/// Which tokens go to which experts. Of equal probabilities, the expert with the lower index wins.
class Routing {
 public:
  /// experts [N, K] i32: of each token, ascending; weights [N, K] f32. Copies the experts of a GPU
  /// to the host, which has to know how many rows each expert gets.
  Routing(int64_t n_experts, const Tensor& experts, Tensor weights);

  int64_t n_experts() const { return n_experts_; }
  /// The tokens that go to an expert, ascending.
  std::span<const int32_t> rows(int64_t expert) const;
  /// A token's experts, ascending: [N K].
  std::span<const int32_t> experts() const { return choices_->experts.values<int32_t>(); }
  /// The index of a token among the rows of each of its experts: [N K].
  std::span<const int32_t> places() const { return choices_->places; }
  /// The factors of the outputs of a token's experts: [N, K] f32.
  const Tensor& weights() const { return weights_; }

 private:
  struct Choices {
    Tensor experts;  // on the host
    std::vector<int32_t> places;
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
