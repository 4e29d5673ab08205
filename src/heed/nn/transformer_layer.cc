#include "heed/nn/transformer_layer.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"

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

TransformerLayer::Norms::Norms(Parameters& parameters, const std::string& name, const Settings& s) {
  if (s.placement != NormPlacement::output) norm.emplace(parameters, name + "_layer_norm", s.norm);
  if (s.placement == NormPlacement::both || s.placement == NormPlacement::output)
    after.emplace(parameters, name + "_post_layer_norm", s.norm);
}

TransformerLayer::TransformerLayer(Parameters& parameters, const std::string& name,
                                   const Settings& s, int layer)
    : placement_(s.placement),
      dropout_(s.dropout),
      residual_multiplier_(s.residual_multiplier),
      parallel_(s.parallel),
      self_attn_(make_self_attention(parameters, name + ".self_attn", s, layer)),
      self_attn_norms_(s.attention_norm ? Norms(parameters, name + ".self_attn", s) : Norms()),
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
Tensor TransformerLayer::add_sublayer(Context& context, const Tensor& residual, const Tensor& x,
                                      const Norms& norms, Body&& body) const {
  const bool before = norms.norm && placement_ != NormPlacement::post;
  Tensor y = body(before ? norms.norm->forward(context, x) : x);
  if (norms.after) y = norms.after->forward(context, std::move(y));
  if (residual_multiplier_ != 1.0f) y = ops::scale(context, y, residual_multiplier_);
  return ops::dropout_add(context, std::move(y), residual, dropout_);
}

template <typename Body>
Tensor TransformerLayer::sublayer(Context& context, const Tensor& x, const Norms& norms,
                                  Body&& body) const {
  Tensor sum = add_sublayer(context, x, x, norms, body);
  if (placement_ != NormPlacement::post) return sum;
  return norms.norm->forward(context, std::move(sum));
}

Tensor TransformerLayer::forward(Context& context, const Tensor& input, const Inputs& reads) const {
  const auto attend = [&](const Tensor& y) {
    return std::visit(
        [&](const auto& attention) {
          return attention.attend_self(context, y, reads.own, reads.own_spans, reads.positions);
        },
        self_attn_);
  };
  const auto feed_forward = [&](const Tensor& y) {
    return std::visit([&](const auto& network) { return network.forward(context, y); },
                      feed_forward_);
  };
  Tensor x = sublayer(context, input, self_attn_norms_, attend);
  if (encoder_attn_)
    x = sublayer(context, x, *encoder_attn_norms_, [&](const Tensor& y) {
      return encoder_attn_->attend(context, y, reads.memory, reads.memory_spans, {});
    });
  if (parallel_) return add_sublayer(context, x, input, final_norms_, feed_forward);
  return sublayer(context, x, final_norms_, feed_forward);
}

}  // namespace heed::nn
