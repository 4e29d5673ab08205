#include "heed/ops/gradient.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/ops/parameter.h"

namespace heed {

Gradient::Gradient(const Shape& shape) : shape_(shape) { set_zero(); }

GradientSlot Gradient::slot() {
  const bool zero = !sum_.defined();
  if (zero) {
    reservation_ = {};
    sum_ = Tensor::empty(shape_);
  }
  return {sum_, !zero};
}

Tensor& Gradient::materialized() {
  auto [sum, accumulate] = slot();
  if (!accumulate) sum.fill_zero();
  return sum_;
}

void Gradient::set_zero() {
  sum_ = {};
  reservation_ = {};
  reservation_ = Reservation(static_cast<size_t>(bytes_of(DType::f32, shape_.elements())));
}

void Gradients::add(const Parameter& parameter) {
  if (!parameter.trainable) return;
  require(gradients_.try_emplace(&parameter, parameter.shape).second, "{} has two gradients",
          parameter.name);
}

const Gradient& Gradients::of(const Parameter& parameter) const {
  const auto found = gradients_.find(&parameter);
  require(found != gradients_.end(), "{} has no gradient: it is frozen, or of another model",
          parameter.name);
  return found->second;
}

Gradient& Gradients::of(const Parameter& parameter) {
  return const_cast<Gradient&>(std::as_const(*this).of(parameter));
}

SparseGradient* Gradients::sparse(const Parameter& table) {
  const auto found = sparse_.find(&table);
  return found == sparse_.end() ? nullptr : &found->second;
}

void Gradients::set_zero() {
  for (auto& [parameter, gradient] : gradients_) gradient.set_zero();
  for (auto& [table, gradient] : sparse_) gradient = {};
}

}  // namespace heed
