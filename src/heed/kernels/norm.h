#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// x [N, D]; weight, bias [D] f32.
struct LayerNormForward {
  const Tensor &x, &weight, &bias;
  float epsilon;
};

/// dx is written; d_weight and d_bias [D] f32 are added to.
struct LayerNormGradients {
  Tensor &dx, &d_weight, &d_bias;
};

/// x [N, D]; weight [D] f32.
struct RmsNormForward {
  const Tensor &x, &weight;
  float epsilon;
};

/// dx is written; d_weight [D] f32 is added to.
struct RmsNormGradients {
  Tensor &dx, &d_weight;
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over each row (Ba et al. 2016); y has
/// the shape and dtype of x and may be x. stats [N, 2] f32: mean and 1 / deviation.
HEED_KERNEL(layer_norm_forward, void(const LayerNormForward& in, Tensor& y, Tensor& stats));
HEED_KERNEL(layer_norm_backward, void(const LayerNormForward& in, const Tensor& stats,
                                      const Tensor& dy, LayerNormGradients gradients));

/// y = x / sqrt(mean(x^2) + epsilon) * weight over each row (Zhang and Sennrich 2019); y has the
/// shape and dtype of x and may be x. stats [N, 1] f32: 1 / root mean square.
HEED_KERNEL(rms_norm_forward, void(const RmsNormForward& in, Tensor& y, Tensor& stats));
HEED_KERNEL(rms_norm_backward, void(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                                    RmsNormGradients gradients));

}  // namespace heed::kernels
