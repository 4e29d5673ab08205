#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// The type that the matrices of a model are kept in; vectors are always f32.
struct WeightPrecision {
  /// None: as the file stores them, without a copy. f32 for training. Blocks are made while
  /// loading, one matrix at a time, as `heed quantize` makes them (quantized_dtype()); a matrix
  /// whose rows are not whole blocks becomes bf16.
  std::optional<DType> dtype = DType::f32;
};

/// The names of the types that weights can be converted to: f32, bf16 and the block types that heed
/// writes, the largest first.
std::vector<std::string> precision_names();

/// The type that a weight of this shape, stored as `stored`, is kept in.
DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision);
/// A weight in that type: itself, or a converted copy.
Tensor in_precision(const Tensor& weight, WeightPrecision precision);

}  // namespace heed::quantize
