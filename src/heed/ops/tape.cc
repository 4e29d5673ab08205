#include "heed/ops/tape.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/embedding.h"
#include "heed/ops/parameter.h"

namespace heed {

Tensor SavedTensor::tensor() const {
  if (!recomputation_) return tensor_;
  if (!recomputation_->result.defined()) recomputation_->result = recomputation_->run();
  return recomputation_->result.reshaped(shape_);
}

Tape::~Tape() {
  while (!steps_.empty()) forget_last();
}

SavedTensor Tape::saved_by(const Tensor& y,
                           std::shared_ptr<SavedTensor::Recomputation> recomputation) {
  recomputations_[y.id()] = recomputation;
  return {{}, y.shape(), std::move(recomputation)};
}

SavedTensor Tape::save(const Tensor& x) const {
  const auto found = recomputations_.find(x.id());
  const auto recomputation = found == recomputations_.end() ? nullptr : found->second.lock();
  return {recomputation ? Tensor() : x, x.shape(), recomputation};
}

void Tape::forget_last() {
  steps_.back().forget(steps_.back().step);
  steps_.pop_back();
}

void Tape::use(const Parameter& parameter, DType dtype) {
  parameter.require_trainable();
  if (hook_ == nullptr || !parameter.trainable) return;
  hook_->before_use(parameter, dtype);
  if (in_use_.insert(&parameter).second) first_uses_.push_back({steps_.size(), &parameter});
}

SparseGradient* Tape::sparse_gradient(const Parameter& table) const {
  return parameter_gradients_ == nullptr ? nullptr : parameter_gradients_->sparse(table);
}

void Tape::look_up(const Parameter& table, DType dtype) {
  if (sparse_gradient(table) == nullptr) return use(table, dtype);
  table.require_trainable();
  if (hook_ != nullptr) hook_->before_lookup(table, dtype);
}

/// Steps run from the last to the first: those of a parameter have all run when its first has.
void Tape::report_complete() {
  while (!first_uses_.empty() && first_uses_.back().steps >= steps_.size()) {
    const Parameter& parameter = *first_uses_.back().parameter;
    first_uses_.pop_back();
    in_use_.erase(&parameter);
    hook_->gradient_complete(parameter);
  }
}

void Tape::backward() {
  report_complete();
  while (!steps_.empty()) {
    steps_.back().run(steps_.back().step);
    forget_last();
    report_complete();
  }
}

Tensor Tape::take(const TensorKey& output) {
  const auto found = gradients_.find(output.id);
  if (found == gradients_.end()) return {};
  Tensor gradient = std::move(found->second);
  gradients_.erase(found);
  return gradient.reshaped(output.shape);
}

GradientSlot Tape::slot(const TensorKey& input) {
  auto [entry, fresh] = gradients_.try_emplace(input.id);
  if (fresh) entry->second = Tensor::empty(input.shape, input.dtype);
  return {entry->second.reshaped(input.shape), !fresh};
}

Gradient& Tape::gradient(const Parameter& parameter) {
  require(parameter_gradients_ != nullptr,
          "{} is trained, but the tape was given no gradients of parameters", parameter.name);
  require(hook_ == nullptr || in_use_.contains(&parameter),
          "{}: an op adds to its gradient and has not said that it uses it", parameter.name);
  return parameter_gradients_->of(parameter);
}

void Tape::add_rows(const Parameter& table, std::span<const int32_t> rows, const Tensor& dy,
                    float scale) {
  if (!table.trainable) return;
  if (SparseGradient* const sparse = sparse_gradient(table)) return sparse->add(rows, dy, scale);
  kernels::embedding_backward(rows, dy, scale, gradient(table).materialized());
}

void Tape::add(const TensorKey& input, Tensor gradient) {
  auto [entry, fresh] = gradients_.try_emplace(input.id);
  if (fresh)
    entry->second = std::move(gradient);
  else
    kernels::add_to(gradient, entry->second);
}

}  // namespace heed
