#pragma once

#include <cstdint>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// One matrix for every head, all in one weight [H * stride, r]: that of head h is the rows
/// [h * stride + begin, h * stride + begin + rows).
struct HeadMatrices {
  const Parameter& weight;
  int64_t n_heads = 1;
  int64_t stride = 0, begin = 0, rows = 0;
  /// y_h = x_h W_h^T, x [N, H r], instead of y_h = x_h W_h, x [N, H rows].
  bool transposed = false;
};

/// y [N, H r] (transposed: [N, H rows]): the columns of every head times the head's matrix (the
/// absorbed maps of DeepSeek-V2's latent attention, 2024, 2.1.2). For decoding: throws Error with a
/// tape, and on sizes that do not fit.
Tensor heads_linear(Context& context, const Tensor& x, const HeadMatrices& matrices);

}  // namespace heed::ops
