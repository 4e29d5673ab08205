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

namespace cpu {
void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats);
void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients);
void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats);
void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients);
}  // namespace cpu

namespace reference {
void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats);
void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients);
void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats);
void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients);
}  // namespace reference

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over each row (Ba et al. 2016); y has
/// the shape and dtype of x. stats [N, 2] f32: mean and 1 / deviation.
inline constexpr Kernel<void(const LayerNormForward& in, Tensor& y, Tensor& stats)>
    layer_norm_forward{cpu::layer_norm_forward, reference::layer_norm_forward};
inline constexpr Kernel<void(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                             LayerNormGradients gradients)>
    layer_norm_backward{cpu::layer_norm_backward, reference::layer_norm_backward};

/// y = x / sqrt(mean(x^2) + epsilon) * weight over each row (Zhang and Sennrich 2019); y has the
/// shape and dtype of x. stats [N, 1] f32: 1 / root mean square.
inline constexpr Kernel<void(const RmsNormForward& in, Tensor& y, Tensor& stats)> rms_norm_forward{
    cpu::rms_norm_forward, reference::rms_norm_forward};
inline constexpr Kernel<void(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                             RmsNormGradients gradients)>
    rms_norm_backward{cpu::rms_norm_backward, reference::rms_norm_backward};

}  // namespace heed::kernels
