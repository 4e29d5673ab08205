#pragma once

#include <optional>
#include <string>

#include "heed/nn/attention.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"

namespace heed::nn {

/// Where the normalisation stands: after the sum of the residual connection (the paper), or before
/// the sub-layer (most later models).
enum class NormPlacement { post, pre };

/// "post" or "pre".
constexpr std::string_view name_of(NormPlacement placement) {
  return placement == NormPlacement::post ? "post" : "pre";
}

/// One layer of an encoder (self-attention, feed-forward) or of a decoder (masked self-attention,
/// cross-attention, feed-forward), each sub-layer inside a residual connection.
class TransformerLayer {
 public:
  struct Settings {
    Attention::Settings attention;
    FeedForward::Settings feed_forward;
    Norm::Settings norm;
    NormPlacement placement = NormPlacement::post;
    float dropout = 0.0f;  // on each sub-layer's output, before the sum
    bool decoder = false;
    bool cross_attention = false;
  };
  TransformerLayer(Parameters& parameters, const std::string& name, Settings settings, int layer);

  /// The keys and values that this layer's cross-attention reads from the encoder's output [Nk, D].
  KeysValues memory_keys_values(Context& context, const Tensor& memory) const;

  /// What the queries of one pass look at.
  struct Reads {
    KeyValueCache& own;  // self-attention: extended by the keys and values of this pass
    const Spans& own_spans;
    const KeysValues& memory;  // cross-attention; unused in an encoder
    const Spans& memory_spans;
  };
  /// x [N, D] -> [N, D].
  Tensor forward(Context& context, const Tensor& x, const Reads& reads) const;

 private:
  template <typename Body>
  Tensor sublayer(Context& context, const Tensor& x, const Norm& norm, Body&& body) const;

  Settings settings_;
  Attention self_attn_;
  Norm self_attn_layer_norm_;
  std::optional<Attention> encoder_attn_;
  std::optional<Norm> encoder_attn_layer_norm_;
  FeedForward feed_forward_;
  Norm final_layer_norm_;
};

}  // namespace heed::nn
