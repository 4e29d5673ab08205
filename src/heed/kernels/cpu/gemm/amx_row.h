#pragma once

#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

/// MicroKernel::multiply of one row and panels of bf16 pairs (matmul_bf16_pack.h), bit for bit as
/// AMX's tiles give it. Needs AVX-512 with BF16.
void multiply_pair_row(const Strip& strip);

}  // namespace heed::kernels::cpu
