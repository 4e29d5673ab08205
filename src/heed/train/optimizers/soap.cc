#include "heed/train/optimizers/soap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/kernels/adam.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/rows.h"
#include "heed/train/optimizers/orthonormal_rows.h"
#include "heed/train/optimizers/symmetric_eigenvectors.h"

namespace heed::train {
namespace {

enum class Direction { to_eigenbasis, back };

/// Q_L^T x Q_R, or Q_L x Q_R^T.
Tensor rotated(const Tensor& x, const SoapState& state, Direction direction) {
  const bool back = direction == Direction::back;
  Tensor y = x;
  if (state.left.basis.defined()) {
    Tensor product = Tensor::empty(x.shape());
    kernels::matmul({state.left.basis, back}, {y}, {}, product);
    y = product;
  }
  if (state.right.basis.defined()) {
    Tensor product = Tensor::empty(x.shape());
    kernels::matmul({y}, {state.right.basis, !back}, {}, product);
    y = product;
  }
  return y;
}

/// Moves the value by a step of Adam in the eigenbasis; step 1 is Adam's first.
void move_value(Tensor& value, const Tensor& gradient, SoapState& state, const SoapOptions& o) {
  const auto t = static_cast<double>(o.step);
  const double correction2 = 1.0 - std::pow(o.beta2, t);
  Tensor projected = rotated(gradient, state, Direction::to_eigenbasis);
  Tensor change = Tensor::zeros(value.shape());
  kernels::adam_step({change, projected, state.moment1, state.moment2},
                     {.learning_rate = o.learning_rate,
                      .beta1 = o.beta1,
                      .beta2 = o.beta2,
                      // The authors add it before the correction.
                      .epsilon = static_cast<float>(o.epsilon / std::sqrt(correction2)),
                      .bias_correction1 = static_cast<float>(1.0 - std::pow(o.beta1, t)),
                      .bias_correction2 = static_cast<float>(correction2)});
  kernels::add_to(rotated(change, state, Direction::back), value);
  kernels::scale(1.0f - o.learning_rate * o.weight_decay, value);
}

void update_factors(const Tensor& gradient, SoapState& state, float beta2) {
  Tensor part = gradient.clone();
  kernels::scale(std::sqrt(1.0f - beta2), part);
  for (SoapSide* const side : {&state.left, &state.right}) {
    if (!side->factor.defined()) continue;
    const bool right = side == &state.right;
    kernels::scale(beta2, side->factor);
    kernels::matmul({part, right}, {part, !right}, {.accumulate = true}, side->factor);
  }
}

/// The eigenvectors of both factors after the first gradient G. With G G^T = U S U^T and G^T G = V
/// S V^T, U S^(1/2) is G V: only the shorter side needs a solver, and QR gives the longer one.
void set_bases(const Tensor& gradient, SoapState& state) {
  const bool wide = gradient.rows() <= gradient.cols();
  SoapSide &shorter = wide ? state.left : state.right, &longer = wide ? state.right : state.left;
  if (!shorter.factor.defined()) return;
  symmetric_eigenvectors(shorter.factor, shorter.basis);
  if (!longer.factor.defined()) return;
  Tensor rows = Tensor::zeros(longer.basis.shape());
  Tensor images = rows.row_slice(0, shorter.basis.rows());
  kernels::matmul({shorter.basis}, {gradient, !wide}, {}, images);
  orthonormal_rows(rows, longer.basis);
}

/// Renews the eigenvectors of a side, by falling eigenvalue. Returns which of the rows before each
/// row comes from.
std::vector<int32_t> renew(SoapSide& side) {
  const int64_t size = side.basis.rows();
  Tensor powers = Tensor::empty(side.basis.shape()), sorted = Tensor::empty(side.basis.shape());
  kernels::matmul({side.basis}, {side.factor}, {}, powers);
  std::vector<double> eigenvalues;
  for (int64_t i = 0; i < size; ++i) {
    const float* const row = side.basis.data<float>() + i * size;
    eigenvalues.push_back(
        std::inner_product(row, row + size, powers.data<float>() + i * size, 0.0));
  }
  std::vector<int32_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return eigenvalues[static_cast<size_t>(a)] > eigenvalues[static_cast<size_t>(b)];
  });
  kernels::gather_rows(powers, order, sorted);
  orthonormal_rows(sorted, side.basis);
  return order;
}

void renew_bases(SoapState& state) {
  const Tensor moment1 = rotated(state.moment1, state, Direction::back).clone();
  Tensor& moment2 = state.moment2;
  if (state.left.basis.defined()) kernels::gather_rows(moment2.clone(), renew(state.left), moment2);
  if (state.right.basis.defined()) {
    const std::vector<int32_t> order = renew(state.right);
    const Tensor before = moment2.clone();
    const int64_t cols = moment2.cols();
    for (int64_t row = 0; row < moment2.rows(); ++row)
      std::transform(order.begin(), order.end(), moment2.data<float>() + row * cols,
                     [from = before.data<float>() + row * cols](int32_t i) { return from[i]; });
  }
  kernels::convert(rotated(moment1, state, Direction::to_eigenbasis), state.moment1);
}

void step_of_one(Tensor value, const Tensor& gradient, SoapState state, const SoapOptions& o) {
  if (o.step > 0) move_value(value, gradient, state, o);
  update_factors(gradient, state, o.beta2);
  if (o.step == 0)
    set_bases(gradient, state);
  else if (o.step % o.frequency == 0)
    renew_bases(state);
}

/// Matrix i of several, each with `rows` rows.
Tensor matrix_at(const Tensor& all, int64_t i, int64_t rows) {
  return all.defined() ? all.row_slice(i * rows, (i + 1) * rows) : Tensor();
}

}  // namespace

SoapState soap_state(const Shape& shape, int64_t max_dim) {
  const auto side = [&](int64_t size) -> SoapSide {
    if (size > max_dim) return {};
    const Shape square = shape.rank() > 2 ? Shape{shape[0], size, size} : Shape{size, size};
    return {Tensor::zeros(square), Tensor::zeros(square)};
  };
  return {Tensor::zeros(shape), Tensor::zeros(shape), side(shape[-2]), side(shape[-1])};
}

void soap_step(Tensor& value, const Tensor& gradient, SoapState& state,
               const SoapOptions& options) {
  Tensor scaled = gradient.defined() ? gradient.clone() : Tensor::zeros(value.shape());
  kernels::scale(options.gradient_scale, scaled);
  const int64_t rows = value.shape()[-2], cols = value.cols();
  for (int64_t i = 0; i < value.rows() / rows; ++i)
    step_of_one(
        matrix_at(value, i, rows), matrix_at(scaled, i, rows),
        {.moment1 = matrix_at(state.moment1, i, rows),
         .moment2 = matrix_at(state.moment2, i, rows),
         .left = {matrix_at(state.left.factor, i, rows), matrix_at(state.left.basis, i, rows)},
         .right = {matrix_at(state.right.factor, i, cols), matrix_at(state.right.basis, i, cols)}},
        options);
}

}  // namespace heed::train
