#include "heed/quantize/calibration.h"

#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"

namespace heed::quantize {
namespace {

/// Adds the sums of the squares of x's columns to `sums` [K].
void add_squares(const Tensor& x, Tensor& sums) {
  constexpr int64_t kColumns = 128;
  const int64_t cols = x.cols();
  float* to = sums.data<float>();
  parallel_for(cols, kColumns, [&](int64_t begin, int64_t end) {
    for (const float* row = x.data<float>(); row != x.data<float>() + x.elements(); row += cols)
      for (int64_t k = begin; k < end; ++k) to[k] += row[k] * row[k];
  });
}

/// Factors from the diagonal of H alone, scaled to a mean of 1. Errors are then not compensated.
GptqFactors diagonal_factors(Tensor squares) {
  float* values = squares.data<float>();
  const int64_t cols = squares.elements();
  const double mean = std::accumulate(values, values + cols, 0.0) / static_cast<double>(cols);
  require(std::isfinite(mean), "the model's activations are not finite: its weights are damaged");
  if (!(mean > 0)) return {};
  for (int64_t k = 0; k < cols; ++k)
    values[k] = static_cast<float>(static_cast<double>(values[k]) / mean) + kDamping;
  return {squares, {}};
}

}  // namespace

void Calibration::watch(Context& context) {
  context.observe_product = [this](const Parameter& weight, const Tensor& x) {
    observe(weight, x);
  };
}

std::shared_ptr<Calibration::Inputs> Calibration::new_inputs(int64_t cols) {
  const int64_t bytes = cols * cols * static_cast<int64_t>(sizeof(float));
  const bool all = bytes <= bytes_left_;
  if (all) bytes_left_ -= bytes;
  return std::make_shared<Inputs>(
      Inputs{cols, Tensor::zeros(all ? Shape{cols, cols} : Shape{cols}), {}});
}

void Calibration::observe(const Parameter& weight, const Tensor& x) {
  std::shared_ptr<Inputs>& inputs = inputs_[weight.name];
  const bool again = last_ && x.id() == last_id_;
  if (!inputs) inputs = again ? last_ : new_inputs(x.cols());
  if (again && inputs == last_) return;
  require(inputs->cols == x.cols(), "the inputs of {} had {} columns before, and now {}",
          weight.name, inputs->cols, x.cols());
  if (inputs->products.shape().rank() == 2)
    kernels::matmul({x, true}, {x}, {.accumulate = true}, inputs->products);
  else
    add_squares(x, inputs->products);
  last_ = inputs;
  last_id_ = x.id();
}

void Calibration::finish() {
  for (auto& [name, inputs] : inputs_) {
    if (!inputs->products.defined()) continue;
    const bool all = inputs->products.shape().rank() == 2;
    inputs->factors = all ? gptq_factors(inputs->products) : diagonal_factors(inputs->products);
    inputs->products = {};
  }
  last_ = {};
}

const GptqFactors* Calibration::of(const std::string& parameter, int64_t cols) const {
  const auto found = inputs_.find(parameter);
  if (found == inputs_.end()) return nullptr;
  const Inputs& inputs = *found->second;
  require(inputs.cols == cols,
          "{} has {} columns, but {} were observed: the calibration is of another model", parameter,
          cols, inputs.cols);
  return inputs.factors.diagonal.defined() ? &inputs.factors : nullptr;
}

}  // namespace heed::quantize
