#pragma once

#include "heed/kernels/cpu/matmul_blocks_kernels.h"

namespace heed::kernels::cpu {

/// Quantises rows [begin, end) of a, which are f32 or bf16, for products with weights whose quants
/// are biased by `bias`.
void quantize_activations(const Tensor& a, int64_t begin, int64_t end, int bias,
                          const QuantizedRows& to);

}  // namespace heed::kernels::cpu
