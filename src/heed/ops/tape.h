#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
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

/// An activation that a backward step reads: kept, or made anew.
class Kept {
 public:
  Tensor tensor() const;

 private:
  friend class Tape;
  struct Remade {
    std::function<Tensor()> make;
    Tensor made;
  };
  Kept(Tensor tensor, Shape shape, std::shared_ptr<Remade> remade)
      : tensor_(std::move(tensor)), shape_(shape), remade_(std::move(remade)) {}

  Tensor tensor_;
  Shape shape_;
  std::shared_ptr<Remade> remade_;  // where the tensor is not kept
};

/// Records the backward step of every op of a forward pass and runs them in reverse (reverse-mode
/// differentiation). Gradients have the shape and dtype of what they belong to, and live only from
/// the first step that adds to them until the step that consumes them.
class Tape {
 public:
  /// A step reads the gradient of its op's output with take() and adds to those of its inputs.
  void record(std::function<void()> backward_step);

  /// Runs all steps, last first, and forgets them; activations are freed on the way. The gradients
  /// of what no op made (inputs) can be taken afterwards.
  void backward();

  /// Steps need not keep `y`, which takes little work to make again: keep() of it keeps `make`,
  /// which returns the same bits, and what it made serves all of them. For as long as the result
  /// lives: until the step of the op that has made y, which comes after all that read it.
  [[nodiscard]] Kept remake(const Tensor& y, std::function<Tensor()> make);
  /// What a step holds in order to read `x`.
  Kept keep(const Tensor& x) const;

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
  std::unordered_map<uint64_t, std::weak_ptr<Kept::Remade>> remade_;
};

}  // namespace heed
