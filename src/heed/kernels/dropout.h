#pragma once

#include <cstdint>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Drops elements with probability `rate` and multiplies the others by 1 / (1 - rate). The mask is
/// a function of `key` and the element's number (counter_hash), so it is computed again, not
/// stored.
struct Dropout {
  float rate = 0.0f;  // in [0, 1)
  uint64_t key = 0;
};

/// y = residual + dropout(x); residual is absent when not defined. Also the plain sum, with rate 0.
HEED_KERNEL(void, dropout_add_forward,
            (const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y),
            (x, residual, dropout, y))
/// dx = dropout's mask and scale applied to dy; dx may be dy.
HEED_KERNEL(void, dropout_backward, (const Tensor& dy, Dropout dropout, Tensor& dx),
            (dy, dropout, dx))

}  // namespace heed::kernels
