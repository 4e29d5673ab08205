#pragma once

#include "heed/tensor/tensor.h"

namespace heed::quantize {

/// What is added to the mean square of each column, in parts of the average: columns that a text
/// did not use are not given up.
inline constexpr float kDamping = 0.01f;

/// What rounding one column of a weight should do to the columns behind it. With H the mean of
/// x^T x over the inputs x of the weight, errors e (a row) change outputs by e H e^T on average,
/// and with H = (U + 1) D (U + 1)^T, U strictly upper triangular, that is the sum over columns k of
/// D_k (e_k + sum over j < k of e_j U_jk)^2. So an error is made good as far as it can be when U_jk
/// times it is taken off the columns behind, before they are rounded in their turn, each with
/// importance D_k (Frantar et al. 2022, GPTQ; in this form Chee et al. 2023, QuIP, theorem 6).
struct Feedback {
  Tensor importance;  // [K]: D
  Tensor weights;     // [K, K]: row k has U_jk at j < k; absent: U = 0
};

/// Of products [K, K] (x^T x), which are overwritten. Nothing when all of them are zero. Throws
/// Error when they are not finite.
Feedback feedback_of(Tensor products);

/// y [N, K], of q4_0 or q4_1, from weight [N, K] of any type: columns are rounded from the first to
/// the last, scales searched for as kernels::quantize() does.
void quantize_with_feedback(const Tensor& weight, const Feedback& feedback, Tensor& y);

}  // namespace heed::quantize
