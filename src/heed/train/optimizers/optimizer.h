#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/train/distributed/shard.h"

namespace heed::train {

enum class OptimizerKind {
  adam,          // Kingma and Ba 2015, with decoupled weight decay (Loshchilov and Hutter 2019)
  muon,          // see muon.h; Adam for embeddings, the head, norms and biases
  soap,          // see soap.h; Adam for the same parameters as with muon
  schedule_free  // see schedule_free.h
};

/// "adam", "muon", "soap" or "schedule_free".
std::string_view name_of(OptimizerKind kind);

/// Changes parameters of a model, or parts of them, by their gradients. Matrices, including
/// embeddings, decay; vectors (norms, biases) do not.
class Optimizer {
 public:
  struct Settings {
    OptimizerKind kind = OptimizerKind::adam;
    float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
    float weight_decay = 0.0f;
    float muon_momentum = 0.95f;
    int muon_iterations = 5;
    DType muon_dtype = DType::f32;
    float soap_beta1 = 0.95f, soap_beta2 = 0.95f;
    int64_t soap_frequency = 10, soap_max_dim = 10000;  // see SoapOptions and soap_state()
  };
  /// The parameters must outlive this. Muon and SOAP change whole matrices only.
  Optimizer(std::vector<Shard> parts, Settings settings);

  /// One step with the gradients of parts(), times `gradient_scale`. An undefined gradient counts
  /// as zero.
  void step(std::vector<Tensor> gradients, double learning_rate, double gradient_scale);

  /// Whether an average of the weights is evaluated in place of those that are trained.
  bool evaluates_average() const { return settings_.kind == OptimizerKind::schedule_free; }
  /// Replaces the values of parts() by the average that is evaluated.
  void set_average();

  /// The parts of parameters that this rank changes.
  const std::vector<Shard>& parts() const { return parts_; }

  /// A tensor that the optimizer keeps for a parameter.
  struct Moment {
    std::string_view name;  // in checkpoints, after the parameter's
    Tensor tensor;
  };
  /// What a checkpoint saves: counters, and the moments of each part in the order of
  /// parts().
  struct State {
    int64_t steps = 0;
    double weight_sum = 0;  // of schedule_free
    std::vector<std::vector<Moment>> moments;
  };
  /// The moments of a parameter, or of a part of this shape, before the first step.
  std::vector<Moment> initial_moments(const Parameter& parameter, const Shape& shape) const;
  State& state() { return state_; }
  const State& state() const { return state_; }

 private:
  OptimizerKind kind_of(const Parameter& parameter) const;
  std::vector<size_t> changed_by(OptimizerKind kind) const;
  template <typename Visit>
  void for_each_changed(OptimizerKind kind, const Visit& visit) const;
  void step_adam(std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_muon(const std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_soap(const std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_schedule_free(const std::vector<Tensor>& gradients, double learning_rate,
                          double gradient_scale);

  std::vector<Shard> parts_;
  Settings settings_;
  State state_;
};

}  // namespace heed::train
