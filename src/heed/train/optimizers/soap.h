#pragma once

#include "heed/tensor/tensor.h"

namespace heed::train {

/// What SOAP keeps for one side of a matrix, here with N rows or columns: the running mean of G G^T
/// or G^T G, and its eigenvectors as rows. Both are [N, N], or [E, N, N] for several matrices.
/// Undefined: the side is too long, the identity stands in.
struct SoapSide {
  Tensor factor, basis;
};

/// What SOAP keeps for a matrix [R, C], or for each of several [E, R, C]. The moments are of this
/// shape and in the eigenbasis: of Q_L^T G Q_R in place of the gradient G.
struct SoapState {
  Tensor moment1, moment2;
  SoapSide left, right;  // of the rows and of the columns
};

/// The state before the first step, all zeros. Sides longer than `max_dim` keep the identity.
SoapState soap_state(const Shape& shape, int64_t max_dim);

struct SoapOptions {
  float learning_rate = 0.0f;
  float beta1 = 0.95f;  // of the first moment
  float beta2 = 0.95f;  // of the second moment and of the factors
  float epsilon = 1e-8f;
  float weight_decay = 0.0f;    // decoupled: value -= learning_rate * weight_decay * value
  float gradient_scale = 1.0f;  // multiplies the gradient first (clipping)
  int64_t step = 0;             // 0: the first
  int64_t frequency = 10;       // steps from one basis to the next
};

/// One step of SOAP: Adam in the eigenbasis of Shampoo's factors (Vyas et al. 2024, "SOAP:
/// Improving and Stabilizing Shampoo using Adam", algorithm 3). As in the authors' implementation,
/// step 0 leaves the value and computes the eigenvectors; every `frequency` steps one power
/// iteration and a QR decomposition renew them, after the step. All are f32; the value and the
/// gradient are of the shape of the state. An undefined gradient counts as zero; at step 0 it gives
/// some basis, which the power iterations then turn. Throws Error if the factors are not finite at
/// step 0.
void soap_step(Tensor& value, const Tensor& gradient, SoapState& state, const SoapOptions& options);

}  // namespace heed::train
