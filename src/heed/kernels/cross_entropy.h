#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

struct CrossEntropyOptions {
  /// s: the target distribution is (1 - s) on the target and s / V on every class
  /// (Szegedy et al. 2016; the paper uses 0.1).
  float label_smoothing = 0.0f;
  /// Multiplies the gradient (1 / tokens for a mean).
  float gradient_scale = 1.0f;
  /// c: the logits become c tanh(logits / c) first (Gemma 2, 2024); 0: no cap.
  float soft_cap = 0.0f;
};

/// For row n of logits [N, V] f32 and the class targets[n] in [0, V): losses[n, 0] = the smoothed
/// cross entropy, losses[n, 1] = -log p(target); losses [N, 2] f32.
/// d_logits [N, V] f32 or bf16 = (softmax - target distribution) * gradient_scale. It is not
/// computed if undefined; it may be `logits` itself.
HEED_KERNEL(cross_entropy, void(const Tensor& logits, std::span<const int32_t> targets,
                                CrossEntropyOptions options, Tensor& losses, Tensor& d_logits));

}  // namespace heed::kernels
