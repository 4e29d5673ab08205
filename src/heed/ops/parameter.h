#pragma once

#include <string>

#include "heed/ops/gradient.h"
#include "heed/ops/packed_weight.h"
#include "heed/ops/weight_role.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One learned tensor. A parameter without a value is absent (a bias that a model does not have).
/// Loaded for inference, a matrix may have any stored dtype; vectors are f32. What is trained is
/// f32.
struct Parameter {
  std::string name;  // "model.encoder.layers.0.fc1.weight"
  Shape shape;       // known before there is a value
  WeightRole role = WeightRole::other;
  WeightPlace place;
  Tensor value;         // elements; given back (not defined) where only `packed` is read
  PackedWeight packed;  // for products of inference; the value must not change while it is packed
  Gradient gradient;    // of the same shape; defined while training

  bool present() const { return value.defined(); }

  /// The elements in `dtype` where they are kept in it, as value or beside the packed weight; else
  /// not defined.
  Tensor kept_in(DType dtype) const;
  /// The elements in f32 or bf16, converted where they are not kept in it. Throws Error when they
  /// were given back.
  Tensor read(DType dtype) const;
  /// Throws Error unless the value is f32 and has its elements.
  void require_trainable() const;
};

}  // namespace heed
