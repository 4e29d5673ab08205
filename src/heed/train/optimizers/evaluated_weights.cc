#include "heed/train/optimizers/evaluated_weights.h"

namespace heed::train {

EvaluatedWeights::EvaluatedWeights(Optimizer& optimizer, StepGradients& gradients)
    : parameters_(gradients.trained()) {
  gradients.complete_weights();
  if (!optimizer.evaluates_average()) return;
  for (Parameter* const parameter : parameters_) {
    trained_.push_back(parameter->value);
    parameter->value = parameter->value.clone();
  }
  optimizer.set_average();
  gradients.all_gather_weights();
}

EvaluatedWeights::~EvaluatedWeights() {
  for (size_t i = 0; i < trained_.size(); ++i) parameters_[i]->value = trained_[i];
}

}  // namespace heed::train
