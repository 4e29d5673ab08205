#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// The dtype of a model's matrices in memory; vectors are always f32.
struct WeightPrecision {
  /// nullopt: as stored in the file, without a copy. Training needs f32. For a block type, matrices
  /// are quantised as they are loaded, one at a time, to the types that quantized_dtype() gives.
  std::optional<DType> dtype = DType::f32;
};

/// The names of the dtypes that weights can be converted to, largest first: f32, bf16 and the block
/// types that heed writes.
std::vector<std::string> precision_names();

/// The dtype in memory of a weight of this shape that is stored as `stored`. A matrix whose rows
/// are not whole blocks of the wanted type gets a type of 32 elements with about as many bits, or
/// else bf16.
DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision);
/// The weight itself if it has that dtype, otherwise a converted copy.
Tensor in_precision(const Tensor& weight, WeightPrecision precision);

}  // namespace heed::quantize
