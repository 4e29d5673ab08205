#pragma once

#include <optional>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"
#include "heed/model/transformer.h"
#include "heed/quantize/precision.h"

namespace heed::checkpoint {

/// Sets all parameters of `model` from the tensors of a file, checked against the family's table of
/// weights. With `pack`, those that Transformer::pack() packs are packed as they are read; the
/// value of one that only products read then has no elements. Throws Error with the file, the
/// tensor, what was found and what was expected when a weight is missing, left over, or of another
/// shape.
void load_weights(model::Transformer& model, const model::Family& family,
                  const io::TensorSource& source, quantize::WeightPrecision precision = {},
                  std::optional<Compute> pack = {});

/// Sets all parameters to their initial values for a seed, each converted to `precision` before the
/// next is made.
void init_weights(model::Transformer& model, uint64_t seed, quantize::WeightPrecision precision);

/// The weights of `model` in f32, named as in files of `family`.
std::vector<io::NamedTensor> stored_weights(const model::Transformer& model,
                                            const model::Family& family);

}  // namespace heed::checkpoint
