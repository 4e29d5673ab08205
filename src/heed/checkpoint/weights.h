#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"
#include "heed/model/transformer.h"
#include "heed/quantize/precision.h"

namespace heed::checkpoint {

/// Called with each weight after it was packed, in an order that depends on the model alone.
using OnPacked = std::function<void(PackedWeight&)>;

/// Sets all parameters of `model` but a dense_module from the tensors of `source`, which have
/// the names and shapes that `family` gives. With `pack`, weights are packed as they are read, as
/// Transformer::pack() does; the value of a weight that is only read packed then has no elements.
/// Throws Error with the file, the tensor, what was found and what was expected when a weight is
/// missing, left over, or of another shape.
void load_weights(model::Transformer& model, const model::Family& family,
                  const io::TensorSource& source, quantize::WeightPrecision precision = {},
                  std::optional<Compute> pack = {}, const OnPacked& on_packed = {});

/// The type of the tensor that holds a parameter; f32 if there is none.
DType stored_dtype(const Parameter& parameter, const model::Transformer& model,
                   const model::Family& family, const io::TensorSource& source);

/// Sets all parameters to their random initial values. Each is converted to `precision` before the
/// next is generated.
void init_weights(model::Transformer& model, uint64_t seed, quantize::WeightPrecision precision);

/// The weights of `model` but a dense_module, in f32, with their names and shapes in files of
/// `family`.
std::vector<io::NamedTensor> stored_weights(const model::Transformer& model,
                                            const model::Family& family);

}  // namespace heed::checkpoint
