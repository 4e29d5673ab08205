#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/tensor/allocator.h"
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

/// An activation that a backward step reads: kept, or made anew. Not to outlive its tape.
class Kept {
 public:
  Tensor tensor() const;

 private:
  friend class Tape;
  struct Remade {
    virtual ~Remade() = default;
    virtual Tensor make() = 0;
    Tensor made;
  };
  template <typename Make>
  struct RemadeBy : Remade {
    explicit RemadeBy(Make how) : how_to_make(std::move(how)) {}
    Tensor make() override { return how_to_make(); }
    Make how_to_make;
  };
  Kept(Tensor tensor, Shape shape, std::shared_ptr<Remade> remade)
      : tensor_(std::move(tensor)), shape_(shape), remade_(std::move(remade)) {}

  Tensor tensor_;
  Shape shape_;
  std::shared_ptr<Remade> remade_;  // where the tensor is not kept
};

/// Records the backward step of every op of a forward pass and runs them in reverse (reverse-mode
/// differentiation). Gradients have the shape and dtype of what they belong to, and live only from
/// the first step that adds to them until the step that consumes them. What it writes down lies in
/// memory of the pool, which goes with it: a tape is for one pass.
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape();

  /// A step reads the gradient of its op's output with take() and adds to those of its inputs.
  template <typename BackwardStep>
  void record(BackwardStep backward_step) {
    void* const place = memory_.allocate(sizeof(BackwardStep), alignof(BackwardStep));
    steps_.push_back({new (place) BackwardStep(std::move(backward_step)),
                      [](void* step) { (*static_cast<BackwardStep*>(step))(); },
                      [](void* step) { static_cast<BackwardStep*>(step)->~BackwardStep(); }});
  }

  /// Runs all steps, last first, and forgets them; activations are freed on the way. The gradients
  /// of what no op made (inputs) can be taken afterwards.
  void backward();

  /// Steps need not keep `y`, which takes little work to make again: keep() of it keeps `make`,
  /// which returns the same bits, and what it made serves all of them. For as long as the result
  /// lives: until the step of the op that has made y, which comes after all that read it.
  template <typename Make>
  [[nodiscard]] Kept remake(const Tensor& y, Make make) {
    return kept_by(y, std::allocate_shared<Kept::RemadeBy<Make>>(
                          std::pmr::polymorphic_allocator<>(&memory_), std::move(make)));
  }
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
  /// A recorded step without its type.
  struct Step {
    void* step;
    void (*run)(void* step);
    void (*forget)(void* step);
  };
  static constexpr size_t kFirstBytes = size_t{16} << 10;

  Kept kept_by(const Tensor& y, std::shared_ptr<Kept::Remade> remade);
  void forget_last();

  std::pmr::monotonic_buffer_resource memory_{kFirstBytes, &pool_resource()};
  std::pmr::vector<Step> steps_{&memory_};
  std::pmr::unordered_map<uint64_t, Tensor> gradients_{&memory_};
  std::pmr::unordered_map<uint64_t, std::weak_ptr<Kept::Remade>> remade_{&memory_};
};

}  // namespace heed
