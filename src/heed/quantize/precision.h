#pragma once

#include <optional>

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// In which type the matrices of a model are kept; vectors are always f32.
struct WeightPrecision {
  /// None: as the file stores them, where they lie in the mapped file. f32 for training. Blocks
  /// (q8_0, q4_0, q4_1) quantise while loading, one matrix at a time, those of 4 bits with 8 where
  /// heed quantize does so, too (quantize/quantization.h); a matrix whose rows are not whole blocks
  /// becomes bf16.
  std::optional<DType> dtype = DType::f32;
};

/// What a weight of this shape, stored as `stored`, is kept in.
DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision);
/// A weight as it is kept: itself, or a converted copy.
Tensor in_precision(const Tensor& weight, WeightPrecision precision);

}  // namespace heed::quantize
