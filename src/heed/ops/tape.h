#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heed/ops/gradient.h"
#include "heed/tensor/allocator.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct Parameter;

/// Identifies a tensor and describes its gradient; holds no elements.
struct TensorKey {
  uint64_t id;
  Shape shape;
  DType dtype;

  TensorKey(const Tensor& tensor)  // NOLINT: a tensor is meant to serve as its own key
      : id(tensor.id()), shape(tensor.shape()), dtype(tensor.dtype()) {}
};

/// An activation that a backward step reads: held, or recomputed. Must not outlive its tape.
class SavedTensor {
 public:
  /// None.
  SavedTensor() = default;
  Tensor tensor() const;

 private:
  friend class Tape;
  struct Recomputation {
    virtual ~Recomputation() = default;
    virtual Tensor run() = 0;
    Tensor result;  // once it has been run
  };
  template <typename Compute>
  struct RecomputationBy : Recomputation {
    explicit RecomputationBy(Compute function) : compute(std::move(function)) {}
    Tensor run() override { return compute(); }
    Compute compute;
  };
  SavedTensor(Tensor tensor, Shape shape, std::shared_ptr<Recomputation> recomputation)
      : tensor_(std::move(tensor)), shape_(shape), recomputation_(std::move(recomputation)) {}

  Tensor tensor_;
  Shape shape_;
  std::shared_ptr<Recomputation> recomputation_;  // in place of the tensor
};

/// Is told what a pass does with the parameters that it trains, on the thread of the pass.
class GradientHook {
 public:
  virtual ~GradientHook() = default;
  /// An op is about to read the parameter's elements in f32 or bf16.
  virtual void before_use(const Parameter& parameter, DType dtype) = 0;
  /// The same if it looks up rows of a table that has a sparse gradient.
  virtual void before_lookup(const Parameter& table, DType dtype) = 0;
  /// All backward steps that add to the parameter's gradient, other than to a sparse one, have run.
  /// Called once for each parameter that the pass has used.
  virtual void gradient_complete(const Parameter& parameter) = 0;
};

/// Records the backward step of every op of a forward pass and runs them in reverse (reverse-mode
/// differentiation). Gradients of activations have their shape and dtype, and live only from the
/// first step that adds to them until the step that consumes them. Records are allocated from the
/// pool and freed with the tape, which serves one pass.
class Tape {
 public:
  /// For a pass without trained parameters.
  Tape() = default;
  /// Gradients of parameters are added to `gradients`. `hook` is told about the parameters, unless
  /// it is null.
  explicit Tape(Gradients& gradients, GradientHook* hook = nullptr)
      : parameter_gradients_(&gradients), hook_(hook) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape();

  /// To be called by an op before it reads a parameter in `dtype` and records a step that adds to
  /// its gradient. Throws Error as Parameter::require_trainable() does.
  void use(const Parameter& parameter, DType dtype = DType::f32);
  /// The same for an op that looks up rows of a table and adds to its gradient with add_rows().
  void look_up(const Parameter& table, DType dtype = DType::f32);

  /// Records step(dy), which adds to the gradients of the op's inputs. dy is the gradient of its
  /// output y; without one the step does not run.
  template <typename BackwardStep>
  void record(const TensorKey& y, BackwardStep step) {
    record([this, y, step = std::move(step)] {
      if (Tensor dy = take(y); dy.defined()) step(std::move(dy));
    });
  }
  /// Records a step that reads the gradient of its op's output with take().
  template <typename BackwardStep>
  void record(BackwardStep backward_step) {
    void* const place = memory_.allocate(sizeof(BackwardStep), alignof(BackwardStep));
    steps_.push_back({new (place) BackwardStep(std::move(backward_step)),
                      [](void* step) { (*static_cast<BackwardStep*>(step))(); },
                      [](void* step) { static_cast<BackwardStep*>(step)->~BackwardStep(); }});
  }

  /// Runs all steps, last first, and frees them and their activations one by one. The gradients of
  /// inputs, which no op made, can be taken afterwards.
  void backward();

  /// The object that a step keeps in order to read `x`.
  SavedTensor save(const Tensor& x) const;
  /// Lets the steps that read y recompute it instead of keeping it: save(y) then holds `compute`,
  /// which should be cheap, returns the same bits as y and runs once for all of these steps. The op
  /// that made y must keep the returned SavedTensor in its own step, which runs after them;
  /// otherwise save(y) holds y itself.
  template <typename Compute>
  [[nodiscard]] SavedTensor recompute(const Tensor& y, Compute compute) {
    return saved_by(y, std::allocate_shared<SavedTensor::RecomputationBy<Compute>>(
                           std::pmr::polymorphic_allocator<>(&memory_), std::move(compute)));
  }

  /// Moves the gradient of `output` out; undefined when no gradient reached it.
  Tensor take(const TensorKey& output);

  /// Where a step puts the gradient of `input`.
  GradientSlot slot(const TensorKey& input);

  /// Adds a finished gradient to that of `input`.
  void add(const TensorKey& input, Tensor gradient);

  /// The gradient of a trained parameter. Throws Error when the tape was given no Gradients, or has
  /// a hook and the op did not call use().
  Gradient& gradient(const Parameter& parameter);

  /// Adds scale * dy[n] to row rows[n] of the gradient of a table, unless that is frozen. Throws as
  /// gradient() does.
  void add_rows(const Parameter& table, std::span<const int32_t> rows, const Tensor& dy,
                float scale);

  size_t steps() const { return steps_.size(); }

 private:
  /// A recorded step without its type.
  struct Step {
    void* step;
    void (*run)(void* step);
    void (*forget)(void* step);
  };
  /// The number of steps before the first one that may add to the gradient of a parameter.
  struct FirstUse {
    size_t steps;
    const Parameter* parameter;
  };
  static constexpr size_t kFirstBytes = size_t{16} << 10;

  SavedTensor saved_by(const Tensor& y, std::shared_ptr<SavedTensor::Recomputation> recomputation);
  SparseGradient* sparse_gradient(const Parameter& table) const;
  void forget_last();
  void report_complete();

  Gradients* parameter_gradients_ = nullptr;
  GradientHook* hook_ = nullptr;
  std::pmr::monotonic_buffer_resource memory_{kFirstBytes, &pool_resource()};
  std::pmr::vector<Step> steps_{&memory_};
  std::pmr::unordered_map<uint64_t, Tensor> gradients_{&memory_};
  std::pmr::vector<FirstUse> first_uses_{&memory_};  // in the order of the pass; if there is a hook
  std::pmr::unordered_set<const Parameter*> in_use_{&memory_};  // the parameters of first_uses_
  std::pmr::unordered_map<uint64_t, std::weak_ptr<SavedTensor::Recomputation>> recomputations_{
      &memory_};
};

}  // namespace heed
