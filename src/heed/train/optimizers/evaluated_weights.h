#pragma once

#include <vector>

#include "heed/train/optimizers/optimizer.h"
#include "heed/train/step_gradients.h"

namespace heed::train {

/// During its lifetime the model has the weights that are evaluated and saved, complete on every
/// rank: with schedule_free the average, otherwise those that are trained. No step may be made
/// meanwhile.
class EvaluatedWeights {
 public:
  /// Collective. The gradients must outlive this.
  EvaluatedWeights(Optimizer& optimizer, StepGradients& gradients);
  ~EvaluatedWeights();
  EvaluatedWeights(const EvaluatedWeights&) = delete;
  EvaluatedWeights& operator=(const EvaluatedWeights&) = delete;

  /// The weights that are trained, in the order of StepGradients::trained(); empty if the model has
  /// them.
  const std::vector<Tensor>& trained() const { return trained_; }

 private:
  const std::vector<Parameter*>& parameters_;
  std::vector<Tensor> trained_;
};

}  // namespace heed::train
