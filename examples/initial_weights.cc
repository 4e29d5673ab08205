// The effect of initial weights on a deep stack. If they are too small, activations and gradients
// vanish; if they are too large, both explode; Xavier initialisation keeps their scale. Residual
// connections give the gradient a path around every layer.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/elementwise.h"
#include "heed/nn/linear.h"
#include "heed/ops/dropout.h"
#include "heed/ops/linear.h"

namespace {

using heed::Tensor;
using heed::nn::Initializer;

constexpr int64_t kWidth = 256, kRows = 64;
constexpr int kLayers = 12;

Tensor normals(uint64_t seed) {
  const heed::CounterRandom random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < kRows * kWidth; ++i)
    values.push_back(static_cast<float>(random.normal(static_cast<uint64_t>(i))));
  return Tensor::of({kRows, kWidth}, values);
}

/// The root mean square, which is the standard deviation of numbers with mean 0.
double deviation(const Tensor& x) {
  if (!x.defined()) return 0;  // no gradient arrived
  return std::sqrt(heed::kernels::sum_of_squares(x) / static_cast<double>(x.elements()));
}

/// Runs inputs of standard deviation 1 forward through the layers and a gradient of standard
/// deviation 1 backward.
void run_stack(const std::string& what, Initializer initializer, bool residual) {
  heed::nn::Parameters parameters(42);
  heed::Gradients gradients;
  heed::Tape tape(gradients);
  heed::Context context{.tape = &tape};
  const Tensor input = normals(1);
  Tensor x = input;
  fmt::print("{:<34}", what);
  for (int layer = 1; layer <= kLayers; ++layer) {
    const heed::Parameter& weight = parameters.create(
        "layer" + std::to_string(layer), {kWidth, kWidth}, initializer, heed::WeightRole::other);
    gradients.add(weight);
    Tensor y = heed::ops::linear(context, x, weight, parameters.absent());
    if (residual) y = heed::ops::dropout_add(context, y, x, 0.0f);
    x = y;
    if (layer == 1 || layer == kLayers / 2 || layer == kLayers)
      fmt::print("{:>12.3g}", deviation(x));
  }
  tape.add(x, normals(2));
  tape.backward();
  fmt::print("{:>14.3g}\n", deviation(tape.take(input)));
}

}  // namespace

int main() {
  fmt::print("{} linear layers of width {}, inputs with standard deviation 1\n\n", kLayers, kWidth);
  fmt::print("{:<34}{:>36}{:>14}\n", "", "standard deviation after layer", "gradient");
  fmt::print("{:<34}{:>12}{:>12}{:>12}{:>14}\n", "weights", 1, kLayers / 2, kLayers,
             "at the input");
  run_stack("zero", Initializer::zeros(), false);
  run_stack("small (standard deviation 0.01)", Initializer::normal(0.01f), false);
  run_stack("huge (standard deviation 1)", Initializer::normal(1.0f), false);
  // sqrt(6 / (256 + 256)): a uniform distribution of variance 1 / 256.
  run_stack("Xavier", Initializer::xavier(), false);
  run_stack("zero, with residual connections", Initializer::zeros(), true);
  run_stack("small, with residual connections", Initializer::normal(0.01f), true);
}
