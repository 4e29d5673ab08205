#pragma once

#include "heed/tensor/tensor.h"

namespace heed::train {

/// The matrix with the same singular vectors as `x` [R, C] and singular values near 1: iterations
/// of Newton and Schulz of degree 5 (Jordan et al. 2024, "Muon: An optimizer for hidden layers in
/// neural networks"). An iteration multiplies small singular values by 3.4; five bring those above
/// 0.002 of the norm to 0.7 to 1.2. Products are computed in `dtype`, f32 or bf16.
Tensor orthogonalized(const Tensor& x, int iterations, DType dtype);

struct MuonOptions {
  float learning_rate = 0.0f;
  float momentum = 0.95f;
  float weight_decay = 0.0f;    // decoupled: value -= learning_rate * weight_decay * value
  float gradient_scale = 1.0f;  // multiplies the gradient first (clipping)
  int iterations = 5;           // see orthogonalized()
  DType dtype = DType::f32;     // of the products
};

/// One step of Muon with Nesterov momentum for a matrix [R, C], or for each of several [E, R, C].
/// The orthogonalised matrix is multiplied by 0.2 sqrt(max(R, C)), so that its elements are about
/// as large as Adam's steps and both have one learning rate (Liu et al. 2025, "Muon is Scalable for
/// LLM Training", equation 4). All are f32 and of one shape; an undefined gradient counts as zero.
void muon_step(Tensor& value, const Tensor& gradient, Tensor& momentum, const MuonOptions& options);

}  // namespace heed::train
