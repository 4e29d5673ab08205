#pragma once

#include <string>

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
  bool trainable = true;  // false: frozen; training leaves it as it is and makes no gradient of it
  Tensor value;  // its elements were given back (it is not defined) where only `packed` is read
  PackedWeight packed;  // for products of inference; the value must not change while it is packed

  bool present() const { return value.defined(); }

  /// The elements in `dtype` where they are kept in it, as value or beside the packed weight; else
  /// not defined.
  Tensor kept_in(DType dtype) const;
  /// The elements in f32 or bf16, converted where they are not kept in it. Throws Error when they
  /// were given back.
  Tensor read(DType dtype) const;
  /// Throws Error when it is to be trained and the value is not f32, or has no elements.
  void require_trainable() const;
};

}  // namespace heed
