#pragma once

#include "heed/model/families/family.h"
#include "heed/ops/parameter.h"
#include "heed/tensor/tensor.h"

namespace heed::checkpoint {

/// The part of a stored tensor that is a parameter: a view of it where its rows lie together, as
/// they are in memory (see is_view_of), otherwise a copy in the tensor's dtype; of a transposed
/// tensor in blocks, a copy in f32.
Tensor part_of(const Tensor& tensor, const model::StoredWeight& stored, const Parameter& parameter);
/// Whether part_of() gives a view.
bool is_view_of(const model::StoredWeight& stored);

/// The inverse: copies the value of a parameter, f32, to its place in `whole` [stored.shape].
void put_part(const Tensor& value, const model::StoredWeight& stored, Tensor& whole);

}  // namespace heed::checkpoint
