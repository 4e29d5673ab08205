#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/model/config.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/ops/cross_entropy.h"

namespace heed::model {

/// Rows of a head, those of some tokens, packed for products as the head is.
struct HeadRows {
  Parameter weight;  // [n, D]
  Parameter bias;    // [n] f32, or absent
};

/// From states to logits: a linear map that may share the embedding's weights, with a transform
/// before it and a bias or a soft cap after it, as the family has them.
class Head {
 public:
  /// Parameters are lm_head.weight (unless tied to `embedding` [V, E]), final_logits_bias,
  /// lm_head.dense and lm_head.layer_norm.
  Head(nn::Parameters& parameters, const ModelConfig& config, const Parameter& embedding);

  /// Logits [N, V] f32 of states [N, D]. Throws Error when the context has a tape: training uses
  /// the fused loss().
  Tensor logits(Context& context, const Tensor& states) const;

  /// Whether rows() can be called: the head is whole, on the host, and its elements were not freed
  /// when it was packed.
  bool has_rows() const;
  /// The rows of `tokens` [n], each below V. Throws Error if has_rows() is false.
  HeadRows rows(std::span<const int32_t> tokens) const;
  /// Logits [N, n] f32 of the tokens of `rows`, each with the bits that it has in logits().
  Tensor logits(Context& context, const Tensor& states, const HeadRows& rows) const;

  /// SPLADE's weights [B, V] of the vocabulary in the texts of states [N, D] (ops::splade()).
  /// Throws Error when the head has a soft cap.
  Tensor splade(Context& context, const Tensor& states, const std::vector<int32_t>& offsets) const;

  /// The loss of states [N, D] against targets [N] and, with a tape, the beginning of its backward
  /// pass.
  ops::Loss loss(Context& context, const Tensor& states, std::span<const int32_t> targets,
                 kernels::CrossEntropyOptions options) const;

 private:
  Tensor transform(Context& context, const Tensor& states) const;
  Tensor product(Context& context, const Tensor& states, const Parameter& weight,
                 const Parameter& bias) const;
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
