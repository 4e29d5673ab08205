#pragma once

#include <cstdint>
#include <vector>

#include "heed/nn/parameters.h"
#include "heed/ops/gradient.h"

namespace heed::train {

/// Adam (Kingma and Ba 2015) with decoupled weight decay (AdamW, Loshchilov and Hutter 2019).
/// Matrices, including embeddings, decay; vectors (norms, biases) do not. Frozen parameters have no
/// moments and do not change.
class Optimizer {
 public:
  struct Settings {
    float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
    float weight_decay = 0.0f;
  };
  /// Parameters and gradients must outlive this. Parameter::trainable must not change afterwards.
  Optimizer(nn::Parameters& parameters, Gradients& gradients, Settings settings);

  /// The L2 norm of all gradients as one vector.
  double gradient_norm() const;

  /// One Adam step with the gradients times `gradient_scale`; then sets the gradients to zero.
  void step(double learning_rate, double gradient_scale);

  /// The parameters that are not frozen, in the model's order.
  const std::vector<Parameter*>& trained() const { return trained_; }

  /// What a checkpoint saves: the number of steps, and the moments in the order of trained().
  struct State {
    int64_t steps = 0;
    std::vector<Tensor> moments1, moments2;
  };
  State& state() { return state_; }
  const State& state() const { return state_; }

 private:
  std::vector<Tensor> gradients_of_trained() const;

  std::vector<Parameter*> trained_;
  Gradients& gradients_;
  Settings settings_;
  State state_;
};

}  // namespace heed::train
