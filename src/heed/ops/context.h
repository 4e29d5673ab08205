#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "heed/attention.h"
#include "heed/base/random.h"
#include "heed/compute.h"
#include "heed/kernels/attention.h"
#include "heed/ops/tape.h"

namespace heed {

struct Adapter;
struct Parameter;

/// An adapter and the factor of what it adds.
struct ScaledAdapter {
  const Adapter* adapter;
  float scale = 1.0f;
  bool operator==(const ScaledAdapter&) const = default;
};

/// The adapters that apply, together and in this order, to the consecutive rows [begin, end) of a
/// pass.
struct AdaptedRows {
  int64_t begin, end;
  std::span<const ScaledAdapter> adapters;
};

/// The type of the activations between products.
constexpr DType activation_dtype(Compute compute) {
  return compute == Compute::bf16 ? DType::bf16 : DType::f32;
}

/// One attention of a model.
struct AttentionSite {
  using Kind = AttentionKind;
  Kind kind = Kind::encoder_self;
  int layer = 0;
};

/// The state of a forward pass, carried through all modules. Training and inference run the same
/// code: with a tape, ops record their backward steps and dropout is active; without one, neither.
struct Context {
  Tape* tape = nullptr;
  /// Type of the activations. Sums are taken in f32 either way.
  DType dtype = DType::f32;
  /// Selects the dropout masks of this pass, whose dropouts are counted.
  uint64_t dropout_seed = 0;
  uint64_t dropouts = 0;
  bool dropout = true;  // whether it is active with a tape
  /// With a tape: products round their factors as int8 inference does, and gradients pass through
  /// as if they did not (straight-through estimator, Bengio et al. 2013; Jacob et al. 2018).
  bool rounds_to_int8 = false;
  /// Which adapters apply to which rows of the pass (ops/adapter.h). Empty: those of the model
  /// (model::Transformer::attach()).
  std::span<const AdaptedRows> adapters = {};
  /// Called before every attention, unless empty.
  std::function<void(AttentionSite, const kernels::AttentionForward&)> observe_attention = {};
  /// Called before every product of x [N, in] with a weight [out, in] (ops::linear), unless empty.
  std::function<void(const Parameter& weight, const Tensor& x)> observe_product = {};

  bool training() const { return tape != nullptr && dropout; }
  uint64_t next_dropout_key() { return CounterRandom(dropout_seed).bits(dropouts++); }
};

namespace ops {

/// Where an op writes y = f(x), by elements or rows: over x if that is needed no more, so that
/// activations take less of a cache. A tape needs x; so does another holder of its elements, as a
/// caller is that did not move its tensor into the op.
inline Tensor result_for(const Context& context, const Tensor& x) {
  return !context.tape && x.is_sole_owner() ? x : Tensor::empty(x.shape(), x.dtype());
}

}  // namespace ops

}  // namespace heed
