#pragma once

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// Layer normalisation over the last axis (Ba et al. 2016): x [N, D], weight [D], bias [D] or
/// absent; see result_for().
Tensor layer_norm(Context& context, Tensor x, const Parameter& weight, const Parameter& bias,
                  float epsilon);

/// Root mean square normalisation (Zhang and Sennrich 2019): x [N, D], weight [D]; with a unit
/// offset the scale is 1 + weight (Gemma); see result_for().
Tensor rms_norm(Context& context, Tensor x, const Parameter& weight, float epsilon,
                bool unit_offset = false);

}  // namespace heed::ops
