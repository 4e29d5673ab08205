#pragma once

#include <cstdint>
#include <vector>

#include "heed/nn/parameters.h"

namespace heed::train {

/// Adam over all parameters of a model (Kingma and Ba 2015) with decoupled decay (AdamW, Loshchilov
/// and Hutter 2019) of matrices, embeddings among them; vectors (norms, biases) do not decay.
class Optimizer {
 public:
  struct Settings {
    float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
    float weight_decay = 0.0f;
  };
  Optimizer(nn::Parameters& parameters, Settings settings);

  /// The norm of all gradients taken as one vector.
  double gradient_norm() const;

  /// One step with the gradients times `gradient_scale`, which are set to zero.
  void step(double learning_rate, double gradient_scale);

  /// Number of steps taken, and the moments in the order of the parameters: what a checkpoint
  /// keeps.
  struct State {
    int64_t steps = 0;
    std::vector<Tensor> moments1, moments2;
  };
  State& state() { return state_; }
  const State& state() const { return state_; }

 private:
  nn::Parameters& parameters_;
  Settings settings_;
  State state_;
};

}  // namespace heed::train
