#pragma once

#include "heed/kernels/cpu/gemm_blocks/kernels.h"

namespace heed::kernels::cpu {

/// Which sums of quants to compute beside quants and scales.
struct RowSums {
  bool any = false;     // QuantizedRows::sums and initial
  int bias = 0;         // of initial
  bool halves = false;  // for each half of a block instead of both together
};

/// Quantises rows [begin, end) of a, which are f32 or bf16.
void quantize_activations(const Tensor& a, int64_t begin, int64_t end, RowSums wanted,
                          const QuantizedRows& to);

}  // namespace heed::kernels::cpu
