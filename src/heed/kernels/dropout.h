#pragma once

#include <cstdint>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Drops elements with probability `rate` and multiplies the others by 1 / (1 - rate). The mask is
/// a function of `key` and the element's index (counter_hash), so it is computed again instead of
/// being stored.
struct Dropout {
  float rate = 0.0f;  // in [0, 1)
  uint64_t key = 0;
};

/// y = residual + dropout(x); an undefined residual is absent. With rate 0 this is the plain sum.
/// y may be x.
HEED_KERNEL(dropout_add_forward,
            void(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y));
/// dx = dy with the mask and the scale of dropout; dx may be dy.
inline void dropout_backward(const Tensor& dy, Dropout dropout, Tensor& dx) {
  dropout_add_forward(dy, {}, dropout, dx);
}

}  // namespace heed::kernels
