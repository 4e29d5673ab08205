#include "heed/train/optimizer.h"

#include <cmath>

#include "heed/kernels/adam.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {

Optimizer::Optimizer(nn::Parameters& parameters, Settings settings)
    : parameters_(parameters), settings_(settings) {
  for (const Parameter& parameter : parameters_.all()) {
    state_.moments1.push_back(Tensor::zeros(parameter.shape));
    state_.moments2.push_back(Tensor::zeros(parameter.shape));
  }
}

double Optimizer::gradient_norm() const {
  double sum = 0;
  for (const Parameter& parameter : parameters_.all())
    sum += kernels::sum_of_squares(parameter.gradient);
  return std::sqrt(sum);
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  const auto t = static_cast<double>(++state_.steps);
  size_t index = 0;
  for (Parameter& parameter : parameters_.all()) {
    const bool matrix = parameter.shape.rank() > 1;
    const kernels::AdamOptions options{
        .learning_rate = static_cast<float>(learning_rate),
        .beta1 = settings_.beta1,
        .beta2 = settings_.beta2,
        .epsilon = settings_.epsilon,
        .weight_decay = matrix ? settings_.weight_decay : 0.0f,
        .gradient_scale = static_cast<float>(gradient_scale),
        .bias_correction1 = static_cast<float>(1.0 - std::pow(settings_.beta1, t)),
        .bias_correction2 = static_cast<float>(1.0 - std::pow(settings_.beta2, t))};
    kernels::adam_step({parameter.value, parameter.gradient, state_.moments1[index],
                        state_.moments2[index], parameter.working},
                       options);
    ++index;
  }
}

}  // namespace heed::train
