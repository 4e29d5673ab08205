#pragma once

#include <optional>
#include <string>

#include "heed/kernels/activation.h"
#include "heed/nn/linear.h"

namespace heed::nn {

/// The position-wise network: W_2 f(W_1 x + b_1) + b_2 (Vaswani et al. 2017, 3.3), or gated:
/// W_down (f(W_gate x) * (W_up x)) (Shazeer 2020). Without f the two linear maps would be
/// equivalent to one.
class FeedForward {
 public:
  struct Settings {
    int64_t d_model;
    int64_t d_ff;  // hidden units; with tensor parallelism, those of this part
    kernels::Activation activation = kernels::Activation::relu;
    bool gated = false;
    bool bias = true;
    bool up_bias = true;   // false: only the projection down has one
    float dropout = 0.0f;  // on the hidden units
  };
  /// Parameters are `prefix`fc1, `prefix`fc2, or `prefix`gate_proj, up_proj, down_proj.
  FeedForward(Parameters& parameters, const std::string& prefix, Settings settings);

  /// x [N, D] -> [N, D].
  Tensor forward(Context& context, const Tensor& x) const;

 private:
  Settings settings_;
  const TensorParallel* parts_;  // of the hidden units
  Linear in_;                    // fc1 or up_proj
  std::optional<Linear> gate_;
  Linear out_;  // fc2 or down_proj
};

}  // namespace heed::nn
