#pragma once

#include "heed/compute.h"
#include "heed/tensor/dtype.h"

namespace heed {

/// The type of the activations between products.
constexpr DType activation_dtype(Compute compute) {
  return compute == Compute::bf16 ? DType::bf16 : DType::f32;
}

}  // namespace heed
