#pragma once

#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The tensor itself if it is f32, else a converted copy. Throws Error for i32.
Tensor as_f32(const Tensor& tensor);

}  // namespace heed::kernels
