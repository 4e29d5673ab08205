#pragma once

#include <string>

#include "heed/kernels/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One learned tensor. A parameter without a value is absent (a bias that a model does not have).
struct Parameter {
  std::string name;              // "model.encoder.layers.0.fc1.weight"
  Shape shape;                   // known before there is a value
  Tensor value;                  // f32, the master copy that training changes
  Tensor gradient;               // f32, of the same shape; defined while training
  Tensor working;                // bf16 copy of the value; defined in the bf16 compute mode
  kernels::PackedMatrix packed;  // the transposed weight laid out for inference; see Model::prepare

  bool present() const { return value.defined(); }

  /// What the forward pass reads: the value in `dtype`. Throws Error when a bf16 copy is missing.
  const Tensor& read(DType dtype) const;
};

}  // namespace heed
