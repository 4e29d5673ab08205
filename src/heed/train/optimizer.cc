#include "heed/train/optimizer.h"

#include <cmath>
#include <utility>

#include "heed/kernels/adam.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {

Optimizer::Optimizer(nn::Parameters& parameters, Gradients& gradients, Settings settings)
    : gradients_(gradients), settings_(settings) {
  for (Parameter& parameter : parameters.all()) {
    if (!parameter.trainable) continue;
    trained_.push_back(&parameter);
    state_.moments1.push_back(Tensor::zeros(parameter.shape));
    state_.moments2.push_back(Tensor::zeros(parameter.shape));
  }
}

std::vector<Tensor> Optimizer::gradients_of_trained() const {
  std::vector<Tensor> gradients;
  gradients.reserve(trained_.size());
  for (const Parameter* const parameter : trained_)
    gradients.push_back(std::as_const(gradients_).of(*parameter).tensor());
  return gradients;
}

double Optimizer::gradient_norm() const {
  return std::sqrt(kernels::sum_of_all_squares(gradients_of_trained()));
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  const auto t = static_cast<double>(++state_.steps);
  std::vector<Tensor> gradients = gradients_of_trained();
  std::vector<kernels::AdamState> states;
  states.reserve(trained_.size());
  for (size_t i = 0; i < trained_.size(); ++i)
    states.push_back({.value = trained_[i]->value,
                      .gradient = gradients[i],
                      .moment1 = state_.moments1[i],
                      .moment2 = state_.moments2[i],
                      .decays = trained_[i]->shape.rank() > 1});
  kernels::adam_steps(states,
                      {.learning_rate = static_cast<float>(learning_rate),
                       .beta1 = settings_.beta1,
                       .beta2 = settings_.beta2,
                       .epsilon = settings_.epsilon,
                       .weight_decay = settings_.weight_decay,
                       .gradient_scale = static_cast<float>(gradient_scale),
                       .bias_correction1 = static_cast<float>(1.0 - std::pow(settings_.beta1, t)),
                       .bias_correction2 = static_cast<float>(1.0 - std::pow(settings_.beta2, t))});
  gradients_.set_zero();
}

}  // namespace heed::train
