#include "heed/ops/tape.h"

#include <utility>

#include "heed/kernels/elementwise.h"

namespace heed {

Tensor Kept::tensor() const {
  if (!remade_) return tensor_;
  if (!remade_->made.defined()) remade_->made = remade_->make();
  return remade_->made.reshaped(shape_);
}

Kept Tape::remake(const Tensor& y, std::function<Tensor()> make) {
  const auto remade = std::make_shared<Kept::Remade>(Kept::Remade{std::move(make), {}});
  remade_[y.id()] = remade;
  return {{}, y.shape(), remade};
}

Kept Tape::keep(const Tensor& x) const {
  const auto found = remade_.find(x.id());
  const auto remade = found == remade_.end() ? nullptr : found->second.lock();
  return {remade ? Tensor() : x, x.shape(), remade};
}

void Tape::record(std::function<void()> backward_step) {
  steps_.push_back(std::move(backward_step));
}

void Tape::backward() {
  while (!steps_.empty()) {
    steps_.back()();
    steps_.pop_back();
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
