#pragma once

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// Added to every diagonal element of H, relative to their mean. Without it, columns that were 0 in
/// the calibration text would be rounded arbitrarily.
inline constexpr float kDamping = 0.01f;

/// A factorisation of H, the mean of x^T x over the inputs x of a weight, for GPTQ (Frantar et al.
/// 2022; in this form Chee et al. 2023, QuIP, theorem 6). A rounding error e of a row of the weight
/// gives its outputs the mean squared error e H e^T. With H = (U + 1) D (U + 1)^T, U strictly upper
/// triangular, that is the sum over columns k of D_k (e_k + sum over j < k of e_j U_jk)^2. So
/// columns are rounded in order, and U_jk e_j is subtracted from each column k > j after column j
/// was rounded; D_k is the importance of the error that is left in column k.
struct GptqFactors {
  Tensor diagonal;  // [K]: D, the importance of columns
  Tensor upper;     // [K, K]: row k holds U_jk at j < k; undefined if U = 0
};

/// Factorises products [K, K], a sum of x^T x, and overwrites them. Undefined tensors if all
/// products are zero. Throws Error when they are not finite.
GptqFactors gptq_factors(Tensor products);

/// Quantises weight [N, K] of any type to y [N, K] in q4_0 or q4_1. Scales are found as
/// kernels::quantize() does.
void quantize_gptq(const Tensor& weight, const GptqFactors& factors, Tensor& y);

}  // namespace heed::quantize
