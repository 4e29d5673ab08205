#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/model/config.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/ops/cross_entropy.h"

namespace heed::model {

/// From states to logits: a linear map that may share the embedding's weights, with a transform
/// before it and a bias or a soft cap after it, as the family has them.
class Head {
 public:
  /// Parameters are lm_head.weight (unless tied to `embedding` [V, D]), final_logits_bias,
  /// lm_head.dense and lm_head.layer_norm.
  Head(nn::Parameters& parameters, const ModelConfig& config, const Parameter& embedding);

  /// Logits [N, V] f32 of states [N, D]. Throws Error when the context has a tape: training uses
  /// the fused loss().
  Tensor logits(Context& context, const Tensor& states) const;

  /// The loss of states [N, D] against targets [N] and, with a tape, the beginning of its backward
  /// pass.
  ops::Loss loss(Context& context, const Tensor& states, std::span<const int32_t> targets,
                 kernels::CrossEntropyOptions options) const;

 private:
  Tensor transform(Context& context, const Tensor& states) const;

  Tensor whole(const Tensor& part) const;

  const nn::TensorParallel* parts_;  // of the vocabulary
  int64_t vocab_size_;
  float scale_, soft_cap_;
  kernels::Activation activation_;
  std::optional<nn::Linear> dense_;
  std::optional<nn::Norm> norm_;
  const Parameter& weight_;
  const Parameter& bias_;
};

}  // namespace heed::model
