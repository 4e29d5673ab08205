#pragma once

#include "heed/tensor/tensor.h"

namespace heed::train {

/// Makes the rows of `x` [N, N] orthonormal in their order: `q` [N, N] becomes Q^T of the QR
/// decomposition x^T = Q R, by blocks of Householder reflections (Schreiber and Van Loan 1989, "A
/// storage-efficient WY representation for products of Householder transformations"). The signs of
/// the rows are arbitrary, and so are rows for which x has only combinations of earlier ones: they
/// complete the basis. `x` is overwritten. Both are f32 and must not overlap.
void orthonormal_rows(Tensor& x, Tensor& q);

}  // namespace heed::train
