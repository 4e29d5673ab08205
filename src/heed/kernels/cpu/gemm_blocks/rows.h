#pragma once

#include "heed/kernels/cpu/gemm_blocks/kernels.h"

namespace heed::kernels::cpu {

/// What is wanted of quantised rows beside quants and scales.
struct RowSums {
  bool any = false;     // sums and starts
  int bias = 0;         // of starts
  bool halves = false;  // starts of both halves of a block, in place of one for all
};

/// Quantises rows [begin, end) of a, which are f32 or bf16.
void quantize_activations(const Tensor& a, int64_t begin, int64_t end, RowSums wanted,
                          const QuantizedRows& to);

}  // namespace heed::kernels::cpu
