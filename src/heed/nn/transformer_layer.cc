#include "heed/nn/transformer_layer.h"

#include "heed/base/error.h"
#include "heed/ops/dropout.h"

namespace heed::nn {

TransformerLayer::TransformerLayer(Parameters& parameters, const std::string& name, Settings s,
                                   int layer)
    : settings_(s),
      self_attn_(parameters, name + ".self_attn", s.attention,
                 {s.decoder ? AttentionSite::Kind::decoder_self : AttentionSite::Kind::encoder_self,
                  layer}),
      self_attn_layer_norm_(parameters, name + ".self_attn_layer_norm", s.norm),
      feed_forward_(parameters, name + ".", s.feed_forward),
      final_layer_norm_(parameters, name + ".final_layer_norm", s.norm) {
  if (!s.cross_attention) return;
  encoder_attn_.emplace(parameters, name + ".encoder_attn", s.attention,
                        AttentionSite{AttentionSite::Kind::cross, layer});
  encoder_attn_layer_norm_.emplace(parameters, name + ".encoder_attn_layer_norm", s.norm);
}

KeysValues TransformerLayer::memory_keys_values(Context& context, const Tensor& memory) const {
  require(encoder_attn_.has_value(), "a layer without cross-attention was given a memory");
  return encoder_attn_->keys_values(context, memory);
}

template <typename Body>
Tensor TransformerLayer::sublayer(Context& context, const Tensor& x, const Norm& norm,
                                  Body&& body) const {
  const bool pre = settings_.placement == NormPlacement::pre;
  const Tensor y = body(pre ? norm.forward(context, x) : x);
  const Tensor sum = ops::dropout_add(context, y, x, settings_.dropout);
  return pre ? sum : norm.forward(context, sum);
}

Tensor TransformerLayer::forward(Context& context, const Tensor& input, const Reads& reads) const {
  Tensor x = sublayer(context, input, self_attn_layer_norm_, [&](const Tensor& y) {
    const KeysValues own = reads.own.extend(self_attn_.keys_values(context, y));
    return self_attn_.attend(context, y, own, reads.own_spans, settings_.decoder);
  });
  if (encoder_attn_)
    x = sublayer(context, x, *encoder_attn_layer_norm_, [&](const Tensor& y) {
      return encoder_attn_->attend(context, y, reads.memory, reads.memory_spans, false);
    });
  return sublayer(context, x, final_layer_norm_,
                  [&](const Tensor& y) { return feed_forward_.forward(context, y); });
}

}  // namespace heed::nn
