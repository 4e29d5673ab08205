#include "heed/ops/tape.h"

#include <utility>

#include "heed/kernels/elementwise.h"

namespace heed {

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
