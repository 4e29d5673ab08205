#include "heed/train/optimizer.h"

#include <cmath>
#include <deque>

#include "heed/kernels/adam.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {
namespace {

std::vector<Tensor> gradients_of(const std::deque<Parameter>& parameters) {
  std::vector<Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const Parameter& parameter : parameters) gradients.push_back(parameter.gradient);
  return gradients;
}

}  // namespace

Optimizer::Optimizer(nn::Parameters& parameters, Settings settings)
    : parameters_(parameters), settings_(settings) {
  for (const Parameter& parameter : parameters_.all()) {
    state_.moments1.push_back(Tensor::zeros(parameter.shape));
    state_.moments2.push_back(Tensor::zeros(parameter.shape));
  }
}

double Optimizer::gradient_norm() const {
  return std::sqrt(kernels::sum_of_all_squares(gradients_of(parameters_.all())));
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  const auto t = static_cast<double>(++state_.steps);
  std::deque<Parameter>& parameters = parameters_.all();
  std::vector<Tensor> gradients = gradients_of(parameters);
  std::vector<kernels::AdamState> states;
  states.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    states.push_back({.value = parameters[i].value,
                      .gradient = gradients[i],
                      .moment1 = state_.moments1[i],
                      .moment2 = state_.moments2[i],
                      .decays = parameters[i].shape.rank() > 1});
  kernels::adam_steps(states,
                      {.learning_rate = static_cast<float>(learning_rate),
                       .beta1 = settings_.beta1,
                       .beta2 = settings_.beta2,
                       .epsilon = settings_.epsilon,
                       .weight_decay = settings_.weight_decay,
                       .gradient_scale = static_cast<float>(gradient_scale),
                       .bias_correction1 = static_cast<float>(1.0 - std::pow(settings_.beta1, t)),
                       .bias_correction2 = static_cast<float>(1.0 - std::pow(settings_.beta2, t))});
  for (Parameter& parameter : parameters) parameter.gradient.fill_zero();
}

}  // namespace heed::train
