#pragma once

#include <span>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// The part of a stored tensor that `stored` describes, reshaped: a view where that is possible.
Tensor part_of(const Tensor& tensor, const model::StoredWeight& stored, const Shape& shape);

/// A part of a tensor to be stored.
struct StoredPart {
  model::StoredWeight stored;
  Tensor value;  // f32
};

/// The tensors that the parts make up, in the order of their first parts.
std::vector<io::NamedTensor> joined(std::span<const StoredPart> parts);

}  // namespace heed::checkpoint
