#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "heed/attention.h"
#include "heed/base/random.h"
#include "heed/kernels/attention.h"
#include "heed/ops/adapted_rows.h"
#include "heed/ops/tape.h"

namespace heed {

struct Parameter;

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

}  // namespace heed
