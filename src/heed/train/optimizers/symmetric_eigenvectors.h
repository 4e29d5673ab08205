#pragma once

#include "heed/tensor/tensor.h"

namespace heed::train {

/// Writes to row i of `vectors` [N, N] the eigenvector of the i-th largest eigenvalue of a
/// symmetric f32 `matrix` [N, N], of length 1. Householder reflections make the matrix tridiagonal,
/// implicit QR steps with Wilkinson's shift make it diagonal (Golub and Van Loan 2013, "Matrix
/// Computations", algorithms 8.3.1 to 8.3.3), in double precision. Signs are arbitrary, and so is
/// the basis where eigenvalues are equal. Throws Error if the matrix is not finite.
void symmetric_eigenvectors(const Tensor& matrix, Tensor& vectors);

}  // namespace heed::train
