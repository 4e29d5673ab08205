#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "heed/nn/tensor_parallel.h"
#include "heed/ops/parameter.h"

namespace heed::nn {

/// How the elements of a new parameter are initialised.
struct Initializer {
  enum class Kind { constant, xavier_uniform, normal };
  Kind kind = Kind::constant;
  /// The constant, the gain, or the standard deviation.
  float value = 0.0f;

  static Initializer zeros() { return {Kind::constant, 0.0f}; }
  static Initializer ones() { return {Kind::constant, 1.0f}; }
  /// Uniform within gain * sqrt(6 / (in + out)) of 0: keeps the variance of activations and of
  /// gradients (Glorot and Bengio 2010).
  static Initializer xavier(float gain = 1.0f) { return {Kind::xavier_uniform, gain}; }
  static Initializer normal(float deviation) { return {Kind::normal, deviation}; }
};

/// Owns all parameters of a model, in the order in which its modules were built. Their addresses
/// never change; modules refer to them and only read them.
class Parameters {
 public:
  /// With a seed, new parameters get their initial values at once; without one they have only a
  /// shape until they are loaded or initialised.
  /// With `parts`, which must outlive them, the modules are one part of a tensor-parallel model.
  explicit Parameters(std::optional<uint64_t> seed = 0, const TensorParallel* parts = nullptr)
      : seed_(seed), parts_(parts) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// A new parameter, at the place of the innermost Scope. Throws Error when the name is taken, and
  /// when there would be more than 2^60 learned values. While a Sharing lives it is the parameter
  /// of that name, and an Error that there is none of this shape.
  Parameter& create(const std::string& name, const Shape& shape, Initializer initializer,
                    WeightRole role);
  /// Stands for a parameter that a model does not have, such as a bias.
  const Parameter& absent() const { return absent_; }

  /// null: the model is whole.
  const TensorParallel* parts() const { return parts_; }

  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }
  /// Throws Error when there is no parameter of that name.
  Parameter& named(const std::string& name);
  const Parameter& named(const std::string& name) const;

  /// The initial value of a parameter of this model, f32: a function of the seed and its name
  /// alone.
  Tensor initial_value(const Parameter& parameter, uint64_t seed) const;

  /// Number of learned values.
  int64_t count() const { return count_; }

  /// While it lives, new parameters get its place.
  class Scope {
   public:
    Scope(Parameters& parameters, const WeightPlace& place)
        : parameters_(parameters), outer_(std::exchange(parameters.place_, place)) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { parameters_.place_ = outer_; }

   private:
    Parameters& parameters_;
    WeightPlace outer_;
  };
  /// While it lives, modules get parameters that exist already, which they share with others.
  class Sharing {
   public:
    explicit Sharing(Parameters& parameters)
        : parameters_(parameters), outer_(std::exchange(parameters.sharing_, true)) {}
    Sharing(const Sharing&) = delete;
    Sharing& operator=(const Sharing&) = delete;
    ~Sharing() { parameters_.sharing_ = outer_; }

   private:
    Parameters& parameters_;
    bool outer_;
  };
  /// The place of the innermost Scope.
  const WeightPlace& place() const { return place_; }

 private:
  std::optional<uint64_t> seed_;
  const TensorParallel* parts_;
  WeightPlace place_;
  bool sharing_ = false;
  std::deque<Parameter> parameters_;
  std::unordered_map<std::string, Initializer> initializers_;  // by name
  const Parameter absent_{};
  int64_t count_ = 0;  // elements of all parameters
};

}  // namespace heed::nn
