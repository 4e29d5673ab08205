#pragma once

#include <span>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"
#include "heed/tensor/tensor.h"

namespace heed::checkpoint {

/// The part of a stored tensor that `stored` describes, of this shape: a view of it where its rows
/// lie together, as they are in memory (see is_view_of), otherwise a copy in the tensor's dtype; of
/// a transposed tensor in blocks, a copy in f32.
Tensor part_of(const Tensor& tensor, const model::StoredWeight& stored, const Shape& shape);
/// Whether part_of() gives a view.
bool is_view_of(const model::StoredWeight& stored);

/// A part of a tensor to be stored.
struct StoredPart {
  model::StoredWeight stored;
  Tensor value;  // f32 where the tensor is transposed; all parts of a tensor have one dtype
};

/// The inverse of part_of(): the tensors that the parts make up, in the order of their first parts.
std::vector<io::NamedTensor> joined(std::span<const StoredPart> parts);

}  // namespace heed::checkpoint
