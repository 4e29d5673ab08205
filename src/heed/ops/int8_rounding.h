#pragma once

#include "heed/ops/parameter.h"

namespace heed::ops {

/// x [N, K] f32 or bf16 as products of int8 inference read it (kernels/matmul_int8.h): each row a
/// scale times integers of -127 to 127.
Tensor rounded_to_int8(const Tensor& x);

/// The elements [out, in] of a weight likewise, in f32 or bf16: as `heed quantize` stores them, in
/// q8_0, and then per row. Those that are not stored so, whose rows are not whole blocks, are as
/// they are.
Tensor rounded_to_int8(const Parameter& weight, DType dtype);

}  // namespace heed::ops
