#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// What the tape needs to know of a tensor to make its gradient; keeps no elements alive.
struct TensorKey {
  uint64_t id;
  Shape shape;
  DType dtype;

  TensorKey(const Tensor& tensor)  // NOLINT: a tensor is meant to serve as its own key
      : id(tensor.id()), shape(tensor.shape()), dtype(tensor.dtype()) {}
};

/// Records the backward step of every op of a forward pass and runs them in reverse (reverse-mode
/// differentiation). Gradients have the shape and dtype of what they belong to, and live only from
/// the first step that adds to them until the step that consumes them.
class Tape {
 public:
  /// A step reads the gradient of its op's output with take() and adds to those of its inputs.
  void record(std::function<void()> backward_step);

  /// Runs all steps, last first, and forgets them; activations are freed on the way. The gradients of
  /// what no op made (inputs) can be taken afterwards.
  void backward();

  /// Moves the gradient of `output` out; a tensor that is not defined when nothing reached it.
  Tensor take(const TensorKey& output);

  /// Where a step puts the gradient of `input`. With `accumulate` the buffer holds the contribution
  /// of another step and must be added to; without, it is undefined and must be written.
  struct Slot {
    Tensor gradient;
    bool accumulate;
  };
  Slot slot(const TensorKey& input);

  /// Adds a finished gradient to that of `input`.
  void add(const TensorKey& input, Tensor gradient);

  size_t steps() const { return steps_.size(); }

 private:
  std::vector<std::function<void()>> steps_;
  std::unordered_map<uint64_t, Tensor> gradients_;
};

}  // namespace heed
