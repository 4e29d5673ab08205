#include "heed/ops/tape.h"

#include <utility>

#include "heed/kernels/elementwise.h"

namespace heed {

Tensor Kept::tensor() const {
  if (!remade_) return tensor_;
  if (!remade_->made.defined()) remade_->made = remade_->make();
  return remade_->made.reshaped(shape_);
}

Tape::~Tape() {
  while (!steps_.empty()) forget_last();
}

Kept Tape::kept_by(const Tensor& y, std::shared_ptr<Kept::Remade> remade) {
  remade_[y.id()] = remade;
  return {{}, y.shape(), std::move(remade)};
}

Kept Tape::keep(const Tensor& x) const {
  const auto found = remade_.find(x.id());
  const auto remade = found == remade_.end() ? nullptr : found->second.lock();
  return {remade ? Tensor() : x, x.shape(), remade};
}

void Tape::forget_last() {
  steps_.back().forget(steps_.back().step);
  steps_.pop_back();
}

void Tape::backward() {
  while (!steps_.empty()) {
    steps_.back().run(steps_.back().step);
    forget_last();
  }
}

Tensor Tape::take(const TensorKey& output) {
  const auto found = gradients_.find(output.id);
  if (found == gradients_.end()) return {};
  Tensor gradient = std::move(found->second);
  gradients_.erase(found);
  return gradient.reshaped(output.shape);
}

Tape::Slot Tape::slot(const TensorKey& input) {
  auto [entry, fresh] = gradients_.try_emplace(input.id);
  if (fresh) entry->second = Tensor::empty(input.shape, input.dtype);
  return {entry->second.reshaped(input.shape), !fresh};
}

void Tape::add(const TensorKey& input, Tensor gradient) {
  auto [entry, fresh] = gradients_.try_emplace(input.id);
  if (fresh)
    entry->second = std::move(gradient);
  else
    kernels::add_to(gradient, entry->second);
}

}  // namespace heed
