#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "heed/nn/attention.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/latent_attention.h"
#include "heed/nn/mixture_of_experts.h"
#include "heed/nn/norm.h"

namespace heed::nn {

/// Where the norms are: after the residual connection (post-norm: the paper), before the sub-layer
/// (pre-norm: most later models), before the sub-layer and on its output (Gemma 2), or on its
/// output alone (OLMo 2).
enum class NormPlacement { post, pre, both, output };

/// "post", "pre", "both" or "output".
constexpr std::string_view name_of(NormPlacement placement) {
  constexpr std::array<std::string_view, 4> kNames{"post", "pre", "both", "output"};
  return kNames[static_cast<size_t>(placement)];
}

/// One layer of an encoder (self-attention, feed-forward) or of a decoder (masked self-attention,
/// cross-attention where there is an encoder, feed-forward), each sub-layer inside a residual
/// connection.
class TransformerLayer {
 public:
  struct Settings {
    Attention::Settings attention;
    LatentDims latent = {};  // given: self-attention is latent
    FeedForward::Settings feed_forward;
    MoeConfig moe = {};  // given: the feed-forward network is a mixture of experts
    Norm::Settings norm;
    NormPlacement placement = NormPlacement::post;
    bool attention_norm = true;        // false: none before self-attention, with pre-norm
    float dropout = 0.0f;              // on each sub-layer's output, before the sum
    float residual_multiplier = 1.0f;  // of this output
    /// Parallel residual: x + attention(norm_1(x)) + feed_forward(norm_2(x)) (GPT-NeoX). Needs
    /// pre-norm and no cross-attention.
    bool parallel = false;
    bool decoder = false;
    bool cross_attention = false;
  };
  TransformerLayer(Parameters& parameters, const std::string& name, const Settings& settings,
                   int layer);

  /// The keys and values that this layer's cross-attention reads from the encoder's output [Nk, D].
  KeysValues memory_keys_values(Context& context, const Tensor& memory) const;

  /// What the queries of one pass attend to.
  struct Inputs {
    KeyValueCache& own;  // of self-attention; the keys and values of this pass are written to it
    const SelfSpans& own_spans;
    const PositionEncoding& positions;
    const KeysValues& memory;  // cross-attention; unused without
    const Spans& memory_spans;
  };
  /// x [N, D] -> [N, D].
  Tensor forward(Context& context, const Tensor& x, const Inputs& reads) const;

 private:
  /// The norms around one sub-layer.
  struct Norms {
    Norms() = default;
    Norms(Parameters& parameters, const std::string& name, const Settings& settings);
    std::optional<Norm> norm;   // before the sub-layer or after the sum
    std::optional<Norm> after;  // before the sum
  };
  template <typename Body>
  Tensor sublayer(Context& context, const Tensor& x, const Norms& norms, Body&& body) const;
  /// residual + dropout(what `body` makes of x between its norms).
  template <typename Body>
  Tensor add_sublayer(Context& context, const Tensor& residual, const Tensor& x, const Norms& norms,
                      Body&& body) const;

  NormPlacement placement_;
  float dropout_, residual_multiplier_;
  bool parallel_;
  std::variant<Attention, LatentAttention> self_attn_;
  Norms self_attn_norms_;
  std::optional<Attention> encoder_attn_;
  std::optional<Norms> encoder_attn_norms_;
  std::variant<FeedForward, MixtureOfExperts> feed_forward_;
  Norms final_norms_;
};

}  // namespace heed::nn
