#include "heed/quantize/calibration.h"

#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"

namespace heed::quantize {
namespace {

/// The sums of the squares of x's columns are added to `sums` [K].
void add_squares(const Tensor& x, Tensor& sums) {
  constexpr int64_t kColumns = 128;
  const int64_t cols = x.cols();
  float* to = sums.data<float>();
  parallel_for(cols, kColumns, [&](int64_t begin, int64_t end) {
    for (const float* row = x.data<float>(); row != x.data<float>() + x.elements(); row += cols)
      for (int64_t k = begin; k < end; ++k) to[k] += row[k] * row[k];
  });
}

/// Squares alone, 1 on average, as feedback that adds nothing.
Feedback without_feedback(Tensor squares) {
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

void Importance::watch(Context& context) {
  context.observe_product = [this](const Parameter& weight, const Tensor& x) {
    observe(weight, x);
  };
}

std::shared_ptr<Importance::Inputs> Importance::new_inputs(int64_t cols) {
  const int64_t bytes = cols * cols * static_cast<int64_t>(sizeof(float));
  const bool all = bytes <= bytes_left_;
  if (all) bytes_left_ -= bytes;
  return std::make_shared<Inputs>(
      Inputs{cols, Tensor::zeros(all ? Shape{cols, cols} : Shape{cols}), {}});
}

void Importance::observe(const Parameter& weight, const Tensor& x) {
  std::shared_ptr<Inputs>& inputs = inputs_[weight.name];
  const bool again = last_ && x.id() == last_id_;
  if (!inputs) inputs = again ? last_ : new_inputs(x.cols());
  if (again && inputs == last_) return;
  require(inputs->cols == x.cols(), "{} was multiplied with {} columns, and now with {}",
          weight.name, inputs->cols, x.cols());
  if (inputs->products.shape().rank() == 2)
    kernels::matmul({x, true}, {x}, {.accumulate = true}, inputs->products);
  else
    add_squares(x, inputs->products);
  last_ = inputs;
  last_id_ = x.id();
}

void Importance::finish() {
  for (auto& [name, inputs] : inputs_) {
    if (!inputs->products.defined()) continue;
    const bool all = inputs->products.shape().rank() == 2;
    inputs->feedback = all ? feedback_of(inputs->products) : without_feedback(inputs->products);
    inputs->products = {};
  }
  last_ = {};
}

const Feedback* Importance::of(const std::string& parameter, int64_t cols) const {
  const auto found = inputs_.find(parameter);
  if (found == inputs_.end()) return nullptr;
  const Inputs& inputs = *found->second;
  require(inputs.cols == cols,
          "{} has {} columns, but {} were observed: the importance is that of another model",
          parameter, cols, inputs.cols);
  return inputs.feedback.importance.defined() ? &inputs.feedback : nullptr;
}

}  // namespace heed::quantize
