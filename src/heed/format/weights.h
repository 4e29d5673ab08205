#pragma once

#include <optional>
#include <vector>

#include "heed/format/safetensors.h"
#include "heed/model/families/family.h"
#include "heed/model/transformer.h"

namespace heed::format {

/// In which type the matrices of a model are kept; vectors are always f32.
struct WeightPrecision {
  /// None: as the file stores them, where they lie in the mapped file. f32 for training. Blocks
  /// (q8_0, q4_0, q4_1) quantise while loading, one matrix at a time, those of 4 bits with 8 where
  /// heed quantize does so, too (format/quantization.h); a matrix whose rows are not whole blocks
  /// becomes bf16.
  std::optional<DType> dtype = DType::f32;
};

/// What a weight of this shape, stored as `stored`, is kept in.
DType dtype_in(const Shape& shape, DType stored, WeightPrecision precision);
/// A weight as it is kept: itself, or a converted copy.
Tensor in_precision(const Tensor& weight, WeightPrecision precision);

/// Sets all parameters of `model` from the tensors of a file, checked against the family's table of
/// weights. With `pack`, those that are kept in such a type are laid out for products, one after
/// the other, as Transformer::pack does; what only products read has a value without elements then.
/// Throws Error with the file, the tensor, what was found and what was expected when a weight is
/// missing, left over, or of another shape.
void load_weights(model::Transformer& model, const model::Family& family,
                  const TensorSource& source, WeightPrecision precision = {},
                  std::optional<DType> pack = {});

/// Sets all parameters from a seed, each brought to `precision` before the next is drawn.
void draw_weights(model::Transformer& model, uint64_t seed, WeightPrecision precision);

/// The weights of `model`, in f32, under their names in the files of `family`.
std::vector<NamedTensor> stored_weights(const model::Transformer& model,
                                        const model::Family& family);

}  // namespace heed::format
