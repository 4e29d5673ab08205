#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The outputs of the experts of a mixture (Shazeer et al. 2017). Each of N tokens was sent to K of
/// E experts, the k-th of token n being experts[n K + k]; its output is row rows[n K + k] of
/// outputs[experts[n K + k]].
struct ExpertOutputs {
  std::span<const Tensor> outputs;   // [E] of [rows, D], one dtype; undefined without rows
  std::span<const int32_t> experts;  // [N K], ascending within a token
  std::span<const int32_t> rows;     // [N K]
  const Tensor& weights;             // [N, K] f32: the gates
};

/// All are written: d_outputs like outputs, d_weights [N, K] f32.
struct ExpertGradients {
  std::span<Tensor> d_outputs;
  Tensor& d_weights;
};

/// y[n] = the sum over k of weights[n, k] times the output of its k-th expert, in the order of k,
/// in f32; y [N, D].
HEED_KERNEL(combine_experts_forward, void(const ExpertOutputs& in, Tensor& y));
/// The gradient of combine_experts_forward. d_weights[n, k] = the dot product of dy[n] and the
/// output of token n's k-th expert.
HEED_KERNEL(combine_experts_backward,
            void(const ExpertOutputs& in, const Tensor& dy, ExpertGradients gradients));

}  // namespace heed::kernels
