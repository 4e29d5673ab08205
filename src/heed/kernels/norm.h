#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over each row (Ba et al. 2016).
/// x, y [N, D] of one dtype; weight, bias [D] f32; stats [N, 2] f32: mean and 1 / deviation.
struct LayerNormForward {
  const Tensor &x, &weight, &bias;
  float epsilon;
};
HEED_KERNEL(void, layer_norm_forward, (const LayerNormForward& in, Tensor& y, Tensor& stats),
            (in, y, stats))

/// dx is written; d_weight and d_bias [D] f32 are added to.
struct LayerNormGradients {
  Tensor &dx, &d_weight, &d_bias;
};
HEED_KERNEL(void, layer_norm_backward,
            (const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
             LayerNormGradients gradients),
            (in, stats, dy, gradients))

/// y = x / sqrt(mean(x^2) + epsilon) * weight over each row (Zhang and Sennrich 2019).
/// x, y [N, D]; weight [D] f32; stats [N, 1] f32: 1 / root mean square.
struct RmsNormForward {
  const Tensor &x, &weight;
  float epsilon;
};
HEED_KERNEL(void, rms_norm_forward, (const RmsNormForward& in, Tensor& y, Tensor& stats),
            (in, y, stats))

/// dx is written; d_weight [D] f32 is added to.
struct RmsNormGradients {
  Tensor &dx, &d_weight;
};
HEED_KERNEL(void, rms_norm_backward,
            (const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
             RmsNormGradients gradients),
            (in, stats, dy, gradients))

}  // namespace heed::kernels
