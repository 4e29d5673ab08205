#pragma once

#include <vector>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// The vocabulary projection and SPLADE's pooling in one (Formal et al. 2021): y = log(1 + max(0,
/// m)), m the largest of each token's logits x W^T + b in a text. x [N, D], whose rows [offsets[b],
/// offsets[b + 1]) are text b; weight [V, D], bias [V] or absent; y [B, V] f32. Logits exist for a
/// few hundred rows at a time only, and a gradient reaches the row that has the largest, the first
/// of equal ones. Throws Error on offsets that are not those of texts with rows.
Tensor splade(Context& context, const Tensor& x, const Parameter& weight, const Parameter& bias,
              const std::vector<int32_t>& offsets);

}  // namespace heed::ops
