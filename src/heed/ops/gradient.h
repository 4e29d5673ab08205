#pragma once

#include <unordered_map>

#include "heed/ops/sparse_gradient.h"
#include "heed/tensor/allocator.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct Parameter;

/// Where a backward step puts a gradient. With `accumulate` the buffer holds the contribution of
/// another step and must be added to; without, it is undefined and must be written.
struct GradientSlot {
  Tensor gradient;
  bool accumulate;
};

/// The gradient of a parameter, f32, to which backward steps add. A zero gradient takes no memory:
/// the first step that adds something allocates it, and set_zero() frees it. So gradients and the
/// activations that they are computed from reuse each other's memory. allocated_bytes() counts a
/// gradient all the time.
class Gradient {
 public:
  /// Zero.
  explicit Gradient(const Shape& shape);

  GradientSlot slot();
  /// The gradient in memory, for steps that only add: zeros are written where it is zero.
  Tensor& materialized();
  /// The gradient; undefined while it is zero.
  const Tensor& tensor() const { return sum_; }

  /// Frees its memory.
  void set_zero();

 private:
  Shape shape_;
  Tensor sum_;
  Reservation reservation_;  // counts what `sum_` will take
};

/// The gradients of the parameters that are trained: those that are not frozen. They belong to the
/// trainer, not to the model, which a training pass only reads. A parameter is identified by its
/// address.
class Gradients {
 public:
  Gradients() = default;
  /// Adds zero gradients for the parameters that are not frozen.
  template <typename Parameters>
  explicit Gradients(const Parameters& parameters) {
    for (const Parameter& parameter : parameters) add(parameter);
  }

  /// Adds a zero gradient for a parameter, unless it is frozen. Throws Error when it has one
  /// already.
  void add(const Parameter& parameter);

  /// The gradient of a parameter. Throws Error when it has none.
  Gradient& of(const Parameter& parameter);
  const Gradient& of(const Parameter& parameter) const;

  /// From now on rows of a trained table that are looked up add to a sparse gradient instead of the
  /// table's own.
  void keep_sparse(const Parameter& table) { sparse_.try_emplace(&table); }
  /// The sparse gradient of a table; null for parameters without one.
  SparseGradient* sparse(const Parameter& table);

  void set_zero();

 private:
  std::unordered_map<const Parameter*, Gradient> gradients_;
  std::unordered_map<const Parameter*, SparseGradient> sparse_;
};

}  // namespace heed
