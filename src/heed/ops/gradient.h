#pragma once

#include <span>

#include "heed/ops/tape.h"
#include "heed/tensor/allocator.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// What backward steps add up for a parameter, f32. Zeros take no memory: it comes with the first
/// step that adds something, and goes when the sum is set to zero. So gradients take the place of
/// the activations that they are computed from, and the other way round. In allocated_bytes() they
/// are counted all the time.
class Gradient {
 public:
  Gradient() = default;
  /// One with this sum, of which it keeps a handle.
  Gradient& operator=(Tensor sum);

  /// Whether there is one: whether the parameter is trained.
  bool defined() const { return wanted_; }

  /// Where a step puts what it has to add. Throws Error unless defined().
  Tape::Slot slot();
  /// The sum, in memory. Throws Error unless defined().
  operator Tensor&();  // NOLINT: a gradient is a tensor to those who read or add to it
  /// The sum; a tensor that is not defined while it is zero.
  operator const Tensor&() const { return sum_; }  // NOLINT
  template <typename T>
  std::span<const T> values() const {
    return sum_.values<T>();
  }

  /// Gives its memory back.
  void fill_zero();

 private:
  bool wanted_ = false;
  Shape shape_;
  Tensor sum_;
  Reservation room_;  // counts what the sum will take
};

}  // namespace heed
