#pragma once

#include <string>

#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_int8.h"
#include "heed/ops/gradient.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One learned tensor. A parameter without a value is absent (a bias that a model does not have).
/// Loaded for inference, a matrix may keep any stored dtype; vectors are f32, and training wants
/// all in f32.
struct Parameter {
  std::string name;              // "model.encoder.layers.0.fc1.weight"
  Shape shape;                   // known before there is a value
  Tensor value;                  // what training changes, or as it is stored
  Gradient gradient;             // of the same shape; defined while training
  Tensor working;                // bf16 copy of the value, where one is kept
  kernels::PackedMatrix packed;  // the transposed weight laid out for inference; see Model::pack
  kernels::PackedBlocks blocks;  // the same of a weight stored in blocks, for integer products
  kernels::PackedInt8 int8;      // or with a scale for each row

  bool present() const { return value.defined(); }
  bool is_packed() const { return packed.defined() || multiplies_integers(); }
  /// Whether x is quantised before it is multiplied with this weight.
  bool multiplies_integers() const { return blocks.defined() || int8.defined(); }

  /// Whether the value, or its working copy, is in `dtype`.
  bool keeps(DType dtype) const;
  /// The same, or whether the value is trained: then it is converted as it is read, so that
  /// training keeps no copies.
  bool has(DType dtype) const;
  /// What a pass in `dtype` reads: one of these. Throws Error when there is none.
  Tensor read(DType dtype) const;
  /// Throws Error unless the value is f32.
  void require_trainable() const;
};

}  // namespace heed
