#pragma once

#include <string>

#include "heed/ops/packed_weight.h"
#include "heed/ops/weight_role.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One learned tensor. A parameter without a value is absent (a bias that a model does not have). A
/// matrix that is loaded for inference may have any stored dtype; vectors and trained parameters
/// are f32.
struct Parameter {
  std::string name;  // "model.encoder.layers.0.fc1.weight"
  Shape shape;       // known before there is a value
  WeightRole role = WeightRole::other;
  WeightPlace place;
  bool trainable = true;  // false: frozen; training does not change it or compute its gradient
  Tensor value;           // undefined where only `packed` is read and the elements were freed
  /// In training on several ranks, between validations: the elements in bf16. The value is then
  /// complete only where this rank changes it.
  Tensor working;
  PackedWeight packed;  // for products of inference; the value must not change while it is packed

  bool present() const { return value.defined(); }

  /// The elements if they are held in `dtype`, as working copy, as the value or beside the packed
  /// weight; else undefined.
  Tensor elements_in(DType dtype) const;
  /// The elements in f32 or bf16, converted unless they are held in it. Throws Error when they were
  /// freed.
  Tensor read(DType dtype) const;
  /// Throws Error when it is to be trained and the value is not f32, or has no elements.
  void require_trainable() const;
};

}  // namespace heed
