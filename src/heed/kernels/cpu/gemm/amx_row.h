#pragma once

#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

/// MicroKernel::multiply for one row and panels of bf16 pairs (bf16_pack.h), bit for bit as with
/// AMX's tiles. Needs AVX-512 with BF16.
void multiply_pair_row(const Strip& strip);

}  // namespace heed::kernels::cpu
