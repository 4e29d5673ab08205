#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::testing {

/// Normal random numbers, at least `away` from 0 (so that a finite step does not cross ReLU's
/// kink).
inline Tensor random_tensor(const Shape& shape, uint64_t seed, float away = 0.0f) {
  Tensor tensor = Tensor::empty(shape);
  const CounterRandom random(seed);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto value = static_cast<float>(random.normal(static_cast<uint64_t>(i)));
    tensor.data<float>()[i] = value + (value < 0 ? -away : away);
  }
  return tensor;
}

/// A tensor whose gradient is checked: an input of the op, or the value of a parameter.
struct Checked {
  std::string name;
  Tensor value;
  const Parameter* parameter = nullptr;

  Tensor gradient(Tape& tape, Gradients& of_parameters) const {
    return parameter ? of_parameters.of(*parameter).materialized() : tape.take(value);
  }
};

inline Checked input(const std::string& name, const Tensor& value) { return {name, value}; }

inline Checked parameter(const Parameter& parameter) {
  return {parameter.name, parameter.value, &parameter};
}

class SilentWatch : public GradientHook {
 public:
  void before_use(const Parameter&, DType) override {}
  void before_lookup(const Parameter&, DType) override {}
  void gradient_complete(const Parameter&) override {}
};

/// Compares, for each checked tensor and several random directions u, <gradient, u> with the
/// four-point finite difference of `loss` along u. `run` computes the loss (in double) and, when
/// the context has a tape, its backward pass. The relative error must be below `tolerance`, plus an
/// allowance for rounding: each value of the loss is a sum in f32 and may be off by 2^-24 of the
/// loss, however small the slope along u. `checked` must include all parameters that are trained.
inline void check_gradients(const std::function<double(Context&)>& run,
                            const std::vector<Checked>& checked, double tolerance = 1e-3,
                            double step = 0.01) {
  Gradients parameter_gradients;
  for (const Checked& tensor : checked)
    if (tensor.parameter) parameter_gradients.add(*tensor.parameter);
  // With a watch, the tape refuses gradients of parameters that an op does not announce.
  SilentWatch watch;
  Tape tape(parameter_gradients, &watch);
  Context context{.tape = &tape, .dropout_seed = 99};
  run(context);
  std::vector<Tensor> gradients;
  for (const Checked& tensor : checked)
    gradients.push_back(tensor.gradient(tape, parameter_gradients).clone());

  // These runs need the same dropout masks as the backward pass, so they have a tape as well. The
  // gradients that they add to the parameters are not used.
  const auto loss = [&] {
    Tape unused(parameter_gradients);
    Context again{.tape = &unused, .dropout_seed = 99};
    return run(again);
  };
  for (size_t which = 0; which < checked.size(); ++which) {
    Tensor value = checked[which].value;
    const Tensor original = value.clone();
    for (uint64_t trial = 0; trial < 3; ++trial) {
      const Tensor direction = random_tensor(value.shape(), 1000 + 17 * which + trial);
      double expected = 0, length = 0;
      for (int64_t i = 0; i < value.elements(); ++i) {
        expected += static_cast<double>(gradients[which].data<float>()[i]) *
                    static_cast<double>(direction.data<float>()[i]);
        length += std::pow(static_cast<double>(direction.data<float>()[i]), 2);
      }
      const auto moved = [&](double by) {
        for (int64_t i = 0; i < value.elements(); ++i)
          value.data<float>()[i] =
              original.data<float>()[i] +
              static_cast<float>(by / std::sqrt(length)) * direction.data<float>()[i];
        return loss();
      };
      const double slope =
          (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
      const double rounding = std::abs(moved(0)) * 0x1p-24 * 2 * (8 + 1) / (12 * step);
      expected /= std::sqrt(length);
      double norm = 0;
      for (const float g : gradients[which].values<float>()) norm += std::pow(double{g}, 2);
      // The tolerance is relative to the slope along an average direction, if that is larger.
      const double scale =
          std::max(std::abs(expected),
                   std::sqrt(norm / static_cast<double>(std::max<int64_t>(value.elements(), 1))));
      EXPECT_LT(std::abs(slope - expected), tolerance * scale + rounding)
          << checked[which].name << ", direction " << trial << ": finite difference " << slope
          << ", gradient " << expected;
    }
  }
}

/// For an op: the loss is a fixed random weighting of its output.
inline void check_op(const std::function<Tensor(Context&)>& op, const std::vector<Checked>& checked,
                     double tolerance = 1e-3, double step = 0.01) {
  check_gradients(
      [&](Context& context) {
        const Tensor y = op(context);
        const Tensor weights = random_tensor(y.shape(), 5);
        double loss = 0;
        for (int64_t i = 0; i < y.elements(); ++i)
          loss += static_cast<double>(y.data<float>()[i]) *
                  static_cast<double>(weights.data<float>()[i]);
        context.tape->add(y, weights.clone());
        context.tape->backward();
        return loss;
      },
      checked, tolerance, step);
}

}  // namespace heed::testing
