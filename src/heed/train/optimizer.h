#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/nn/parameters.h"
#include "heed/ops/gradient.h"

namespace heed::train {

enum class OptimizerKind {
  adam,          // Kingma and Ba 2015, with decoupled weight decay (Loshchilov and Hutter 2019)
  muon,          // see muon.h; Adam for embeddings, the head, norms and biases
  soap,          // see soap.h; Adam for the same parameters as with muon
  schedule_free  // see schedule_free.h
};

/// "adam", "muon", "soap" or "schedule_free".
std::string_view name_of(OptimizerKind kind);

/// Changes the parameters of a model by their gradients. Matrices, including embeddings, decay;
/// vectors (norms, biases) do not. Frozen parameters have no state and do not change.
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
  /// Parameters and gradients must outlive this. Parameter::trainable must not change afterwards.
  Optimizer(nn::Parameters& parameters, Gradients& gradients, Settings settings);

  /// The L2 norm of all gradients as one vector.
  double gradient_norm() const;

  /// One step with the gradients times `gradient_scale`; then sets the gradients to zero.
  void step(double learning_rate, double gradient_scale);

  /// The parameters that are not frozen, in the model's order.
  const std::vector<Parameter*>& trained() const { return trained_; }

  /// A tensor that the optimizer keeps for a parameter.
  struct Moment {
    std::string_view name;  // in checkpoints, after the parameter's
    Tensor tensor;
  };
  /// What a checkpoint saves: counters, and the moments of each parameter in the order of
  /// trained().
  struct State {
    int64_t steps = 0;
    double weight_sum = 0;  // of schedule_free
    std::vector<std::vector<Moment>> moments;
  };
  State& state() { return state_; }
  const State& state() const { return state_; }

 private:
  friend class EvaluatedWeights;

  std::vector<Tensor> gradients_of_trained() const;
  OptimizerKind kind_of(const Parameter& parameter) const;
  std::vector<Moment> initial_moments(const Parameter& parameter) const;
  std::vector<size_t> trained_by(OptimizerKind kind) const;
  void step_adam(std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_muon(const std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_soap(const std::vector<Tensor>& gradients, double learning_rate, double gradient_scale);
  void step_schedule_free(const std::vector<Tensor>& gradients, double learning_rate,
                          double gradient_scale);

  std::vector<Parameter*> trained_;
  Gradients& gradients_;
  Settings settings_;
  State state_;
  int evaluations_ = 0;  // EvaluatedWeights that live
};

/// While one lives, the model has the weights that are evaluated and saved: with schedule_free the
/// average, otherwise those that are trained. No step may be made meanwhile.
class EvaluatedWeights {
 public:
  explicit EvaluatedWeights(Optimizer& optimizer);
  ~EvaluatedWeights();
  EvaluatedWeights(const EvaluatedWeights&) = delete;
  EvaluatedWeights& operator=(const EvaluatedWeights&) = delete;

 private:
  Optimizer& optimizer_;
};

}  // namespace heed::train
