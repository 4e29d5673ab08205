#include "heed/nn/transformer_layer.h"

#include "heed/base/error.h"
#include "heed/ops/dropout.h"

namespace heed::nn {
namespace {

std::variant<Attention, LatentAttention> make_self_attention(Parameters& parameters,
                                                             const std::string& name,
                                                             const TransformerLayer::Settings& s,
                                                             int layer) {
  const AttentionSite site{
      s.decoder ? AttentionSite::Kind::decoder_self : AttentionSite::Kind::encoder_self, layer};
  Attention::Settings attention = s.attention;
  attention.causal = s.decoder;
  if (s.latent.present())
    return LatentAttention(parameters, name, {attention, s.latent, s.norm}, site);
  return Attention(parameters, name, attention, site);
}

std::variant<FeedForward, MixtureOfExperts> make_feed_forward(Parameters& parameters,
                                                              const std::string& prefix,
                                                              const TransformerLayer::Settings& s) {
  if (s.moe.present()) return MixtureOfExperts(parameters, prefix, s.feed_forward, s.moe);
  return FeedForward(parameters, prefix, s.feed_forward);
}

/// Cross-attention sees all of its memory, without positions.
Attention::Settings cross_attention(Attention::Settings settings) {
  settings.causal = false;
  settings.window = 0;
  return settings;
}

}  // namespace

TransformerLayer::Norms::Norms(Parameters& parameters, const std::string& name, const Settings& s)
    : norm(parameters, name + "_layer_norm", s.norm) {
  if (s.placement == NormPlacement::both)
    after.emplace(parameters, name + "_post_layer_norm", s.norm);
}

TransformerLayer::TransformerLayer(Parameters& parameters, const std::string& name,
                                   const Settings& s, int layer)
    : placement_(s.placement),
      dropout_(s.dropout),
      self_attn_(make_self_attention(parameters, name + ".self_attn", s, layer)),
      self_attn_norms_(parameters, name + ".self_attn", s),
      feed_forward_(make_feed_forward(parameters, name + ".", s)),
      final_norms_(parameters, name + ".final", s) {
  if (!s.cross_attention) return;
  encoder_attn_.emplace(parameters, name + ".encoder_attn", cross_attention(s.attention),
                        AttentionSite{AttentionSite::Kind::cross, layer});
  encoder_attn_norms_.emplace(parameters, name + ".encoder_attn", s);
}

KeysValues TransformerLayer::memory_keys_values(Context& context, const Tensor& memory) const {
  require(encoder_attn_.has_value(), "a layer without cross-attention was given a memory");
  return encoder_attn_->keys_values(context, memory, {});
}

template <typename Body>
Tensor TransformerLayer::sublayer(Context& context, const Tensor& x, const Norms& norms,
                                  Body&& body) const {
  const bool post = placement_ == NormPlacement::post;
  Tensor y = body(post ? x : norms.norm.forward(context, x));
  if (norms.after) y = norms.after->forward(context, y);
  const Tensor sum = ops::dropout_add(context, y, x, dropout_);
  return post ? norms.norm.forward(context, sum) : sum;
}

Tensor TransformerLayer::forward(Context& context, const Tensor& input, const Reads& reads) const {
  Tensor x = sublayer(context, input, self_attn_norms_, [&](const Tensor& y) {
    return std::visit(
        [&](const auto& attention) {
          return attention.attend_self(context, y, reads.own, reads.own_spans, reads.positions);
        },
        self_attn_);
  });
  if (encoder_attn_)
    x = sublayer(context, x, *encoder_attn_norms_, [&](const Tensor& y) {
      return encoder_attn_->attend(context, y, reads.memory, reads.memory_spans, {});
    });
  return sublayer(context, x, final_norms_, [&](const Tensor& y) {
    return std::visit([&](const auto& network) { return network.forward(context, y); },
                      feed_forward_);
  });
}

}  // namespace heed::nn
