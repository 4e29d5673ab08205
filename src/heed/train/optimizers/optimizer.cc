#include "heed/train/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/optimizers/muon.h"
#include "heed/train/optimizers/schedule_free.h"
#include "heed/train/optimizers/soap.h"

namespace heed::train {
namespace {

std::vector<Optimizer::Moment> moments_of_soap(const SoapState& state) {
  std::vector<Optimizer::Moment> moments{{"m", state.moment1}, {"v", state.moment2}};
  for (const Optimizer::Moment& moment : {Optimizer::Moment{"left", state.left.factor},
                                          {"left_basis", state.left.basis},
                                          {"right", state.right.factor},
                                          {"right_basis", state.right.basis}})
    if (moment.tensor.defined()) moments.push_back(moment);
  return moments;
}

/// The inverse of moments_of_soap(); shares the elements.
SoapState soap_state_of(const std::vector<Optimizer::Moment>& moments) {
  const auto get = [&](std::string_view name) {
    for (const Optimizer::Moment& moment : moments)
      if (moment.name == name) return moment.tensor;
    return Tensor();
  };
  return {get("m"), get("v"), {get("left"), get("left_basis")}, {get("right"), get("right_basis")}};
}

}  // namespace

std::string_view name_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::muon:
      return "muon";
    case OptimizerKind::soap:
      return "soap";
    case OptimizerKind::schedule_free:
      return "schedule_free";
  }
  return "?";
}

Optimizer::Optimizer(std::vector<Shard> parts, Settings settings)
    : parts_(std::move(parts)), settings_(settings) {
  for (const Shard& part : parts_)
    state_.moments.push_back(initial_moments(*part.parameter, part.shape()));
}

std::vector<Optimizer::Moment> Optimizer::initial_moments(const Parameter& parameter,
                                                          const Shape& shape) const {
  const OptimizerKind kind = kind_of(parameter);
  if (kind == OptimizerKind::soap)
    return moments_of_soap(soap_state(shape, settings_.soap_max_dim));
  std::vector<Moment> moments{
      {kind == OptimizerKind::schedule_free ? "z" : "m", Tensor::zeros(shape)}};
  if (kind != OptimizerKind::muon) moments.push_back({"v", Tensor::zeros(shape)});
  return moments;
}

/// The optimizer of this parameter.
OptimizerKind Optimizer::kind_of(const Parameter& parameter) const {
  const bool linear = parameter.shape.rank() > 1 && is_multiplied(parameter.role) &&
                      parameter.role != WeightRole::head;
  const bool for_linear =
      settings_.kind == OptimizerKind::muon || settings_.kind == OptimizerKind::soap;
  return for_linear && !linear ? OptimizerKind::adam : settings_.kind;
}

/// The indices of the parts that an optimizer changes.
std::vector<size_t> Optimizer::changed_by(OptimizerKind kind) const {
  const auto changes = [&](const Shard& part) { return kind_of(*part.parameter) == kind; };
  std::vector<size_t> indices;
  indices.reserve(static_cast<size_t>(std::ranges::count_if(parts_, changes)));
  for (size_t i = 0; i < parts_.size(); ++i)
    if (changes(parts_[i])) indices.push_back(i);
  return indices;
}

/// Calls visit(i) for these indices, on several threads.
template <typename Visit>
void Optimizer::for_each_changed(OptimizerKind kind, const Visit& visit) const {
  const std::vector<size_t> changed = changed_by(kind);
  parallel_in_order(std::ssize(changed), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) visit(changed[static_cast<size_t>(i)]);
  });
}

void Optimizer::step(std::vector<Tensor> gradients, double learning_rate, double gradient_scale) {
  ++state_.steps;
  if (settings_.kind == OptimizerKind::schedule_free) {
    step_schedule_free(gradients, learning_rate, gradient_scale);
  } else {
    step_muon(gradients, learning_rate, gradient_scale);
    step_soap(gradients, learning_rate, gradient_scale);
    step_adam(gradients, learning_rate, gradient_scale);
  }
}

void Optimizer::step_adam(std::vector<Tensor>& gradients, double learning_rate,
                          double gradient_scale) {
  const auto t = static_cast<double>(state_.steps);
  const std::vector<size_t> changed = changed_by(OptimizerKind::adam);
  std::vector<Tensor> values;
  values.reserve(changed.size());
  std::vector<kernels::AdamState> states;
  states.reserve(changed.size());
  for (const size_t i : changed) {
    values.push_back(parts_[i].of(parts_[i].parameter->value));
    states.push_back({.value = values.back(),
                      .gradient = gradients[i],
                      .moment1 = state_.moments[i][0].tensor,
                      .moment2 = state_.moments[i][1].tensor,
                      .decays = parts_[i].parameter->shape.rank() > 1});
  }
  kernels::adam_steps(states,
                      {.learning_rate = static_cast<float>(learning_rate),
                       .beta1 = settings_.beta1,
                       .beta2 = settings_.beta2,
                       .epsilon = settings_.epsilon,
                       .weight_decay = settings_.weight_decay,
                       .gradient_scale = static_cast<float>(gradient_scale),
                       .bias_correction1 = static_cast<float>(1.0 - std::pow(settings_.beta1, t)),
                       .bias_correction2 = static_cast<float>(1.0 - std::pow(settings_.beta2, t))});
}

void Optimizer::step_muon(const std::vector<Tensor>& gradients, double learning_rate,
                          double gradient_scale) {
  const MuonOptions options{.learning_rate = static_cast<float>(learning_rate),
                            .momentum = settings_.muon_momentum,
                            .weight_decay = settings_.weight_decay,
                            .gradient_scale = static_cast<float>(gradient_scale),
                            .iterations = settings_.muon_iterations,
                            .dtype = settings_.muon_dtype};
  for_each_changed(OptimizerKind::muon, [&](size_t i) {
    muon_step(parts_[i].parameter->value, gradients[i], state_.moments[i][0].tensor, options);
  });
}

void Optimizer::step_soap(const std::vector<Tensor>& gradients, double learning_rate,
                          double gradient_scale) {
  const SoapOptions options{.learning_rate = static_cast<float>(learning_rate),
                            .beta1 = settings_.soap_beta1,
                            .beta2 = settings_.soap_beta2,
                            .epsilon = settings_.epsilon,
                            .weight_decay = settings_.weight_decay,
                            .gradient_scale = static_cast<float>(gradient_scale),
                            .step = state_.steps - 1,
                            .frequency = settings_.soap_frequency};
  for_each_changed(OptimizerKind::soap, [&](size_t i) {
    SoapState state = soap_state_of(state_.moments[i]);
    soap_step(parts_[i].parameter->value, gradients[i], state, options);
  });
}

void Optimizer::step_schedule_free(const std::vector<Tensor>& gradients, double learning_rate,
                                   double gradient_scale) {
  const auto t = static_cast<double>(state_.steps);
  // The weight of a step in the average is the square of its learning rate.
  const double weight = learning_rate * learning_rate;
  state_.weight_sum += weight;
  ScheduleFreeOptions options{
      .learning_rate = static_cast<float>(learning_rate),
      .beta1 = settings_.beta1,
      .beta2 = settings_.beta2,
      .epsilon = settings_.epsilon,
      .gradient_scale = static_cast<float>(gradient_scale),
      .bias_correction2 = static_cast<float>(1.0 - std::pow(settings_.beta2, t)),
      .average_weight = state_.weight_sum > 0 ? static_cast<float>(weight / state_.weight_sum) : 0};
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Parameter& parameter = *parts_[i].parameter;
    Tensor value = parts_[i].of(parameter.value);
    std::vector<Moment>& moments = state_.moments[i];
    if (state_.steps == 1) moments[0].tensor = value.clone();
    options.weight_decay = parameter.shape.rank() > 1 ? settings_.weight_decay : 0.0f;
    schedule_free_step(value, gradients[i], moments[0].tensor, moments[1].tensor, options);
  }
}

void Optimizer::set_average() {
  if (!evaluates_average() || state_.steps == 0) return;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Tensor value = parts_[i].of(parts_[i].parameter->value);
    schedule_free_average(value, state_.moments[i][0].tensor, settings_.beta1);
  }
}

}  // namespace heed::train
