#pragma once

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// What is added to the mean square of each column, as a share of the average: columns that a text
/// did not use are rounded with care, too.
inline constexpr float kDamping = 0.01f;

/// How rounding one column of a weight is to change the columns after it. With H the mean of x^T x
/// over the inputs x of the weight, errors e (a row) change outputs by e H e^T on average, and with
/// H = (U + 1) D (U + 1)^T, U strictly upper triangular, that is the sum over columns k of
/// D_k (e_k + sum over j < k of e_j U_jk)^2. So an error in column j is compensated as far as it
/// can be when U_jk times it is subtracted from each column k > j before that is rounded, with
/// importance D_k (Frantar et al. 2022, GPTQ; in this form Chee et al. 2023, QuIP, theorem 6).
struct GptqFactors {
  Tensor diagonal;  // [K]: D, the importance of columns
  Tensor upper;     // [K, K]: row k holds U_jk at j < k; not defined: U = 0
};

/// The factors of products [K, K] (x^T x), which are overwritten. Empty when all products are zero.
/// Throws Error when they are not finite.
GptqFactors gptq_factors(Tensor products);

/// y [N, K] in q4_0 or q4_1, from weight [N, K] of any type: columns are rounded from the first to
/// the last, with scales searched for as kernels::quantize() does.
void quantize_gptq(const Tensor& weight, const GptqFactors& factors, Tensor& y);

}  // namespace heed::quantize
