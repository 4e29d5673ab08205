#pragma once

#include <cstdint>
#include <vector>

#include "heed/nn/parameters.h"
#include "heed/ops/gradient.h"

namespace heed::train {

/// Adam over the parameters of a model that are trained (Kingma and Ba 2015) with decoupled decay
/// (AdamW, Loshchilov and Hutter 2019) of matrices, embeddings among them; vectors (norms, biases)
/// do not decay. Frozen parameters have no moments and stay as they are.
class Optimizer {
 public:
  struct Settings {
    float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
    float weight_decay = 0.0f;
  };
  /// Parameters and gradients must outlive this; no parameter is frozen or thawed later.
  Optimizer(nn::Parameters& parameters, Gradients& gradients, Settings settings);

  /// The norm of all gradients taken as one vector.
  double gradient_norm() const;

  /// One step with the gradients times `gradient_scale`, which are set to zero.
  void step(double learning_rate, double gradient_scale);

  /// The parameters that are trained, in the model's order.
  const std::vector<Parameter*>& trained() const { return trained_; }

  /// Number of steps taken, and the moments in the order of trained(): what a checkpoint keeps.
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
