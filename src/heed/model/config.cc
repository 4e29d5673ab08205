#include "heed/model/config.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "heed/base/error.h"

namespace heed::model {
namespace {

// Far beyond any model, so that a damaged file is refused before it costs memory and products of
// two sizes fit 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr int64_t kMaxHeadDim = int64_t{1} << 16;
constexpr int64_t kMaxExperts = int64_t{1} << 16;  // of all layers together
constexpr int64_t kMaxTable = int64_t{1} << 28;    // of sinusoids

void check_size(std::string_view name, int64_t size, int64_t min, int64_t max = kMaxSize) {
  require(size >= min && size <= max, "{} is {}, expected {} to {}", name, size, min, max);
}

void check_rate(std::string_view name, float rate) {
  require(rate >= 0.0f && rate < 1.0f, "{} is {}, expected at least 0 and below 1", name, rate);
}

void check_not_negative(std::string_view name, float number) {
  require(number >= 0.0f && std::isfinite(number), "{} is {}, expected a number of at least 0",
          name, number);
}

/// Replaces zeros in the widths of heads by their defaults.
void complete_heads(ModelConfig& c) {
  if (c.n_kv_heads == 0) c.n_kv_heads = c.n_heads;
  check_size("num_attention_heads", c.n_heads, 1);
  check_size("num_key_value_heads", c.n_kv_heads, 1);
  require(c.n_heads % c.n_kv_heads == 0,
          "num_attention_heads is {}, not divisible by num_key_value_heads, which is {}", c.n_heads,
          c.n_kv_heads);
  if (c.head_dim == 0) {
    require(c.d_model % c.n_heads == 0,
            "d_model is {}, not divisible by num_attention_heads, which is {} (or give head_dim)",
            c.d_model, c.n_heads);
    c.head_dim = c.d_model / c.n_heads;
  }
  if (c.v_head_dim == 0) c.v_head_dim = c.head_dim;
  check_size("head_dim", c.head_dim, 1, kMaxHeadDim);
  check_size("v_head_dim", c.v_head_dim, 1, kMaxHeadDim);
  check_size("num_attention_heads * head_dim", c.n_heads * c.head_dim, 1);
  check_size("num_attention_heads * v_head_dim", c.n_heads * c.v_head_dim, 1);
}

/// The encoder's own sizes, in the same way.
void complete_encoder(ModelConfig& c) {
  if (c.encoder_heads == 0) c.encoder_heads = c.n_heads;
  if (c.encoder_d_ff == 0) c.encoder_d_ff = c.d_ff;
  check_size("encoder_attention_heads", c.encoder_heads, 1);
  check_size("encoder_ffn_dim", c.encoder_d_ff, 1);
  require(c.encoder_heads == c.n_heads || c.d_model % c.encoder_heads == 0,
          "d_model is {}, not divisible by encoder_attention_heads, which is {}", c.d_model,
          c.encoder_heads);
}

void check_layers(const ModelConfig& c) {
  check_size("encoder_layers", c.encoder_layers, 0, kMaxLayers);
  check_size("decoder_layers", c.decoder_layers, 0, kMaxLayers);
  require(c.encoder_layers + c.decoder_layers > 0,
          "encoder_layers and decoder_layers are both 0, expected at least one layer");
  require(c.windows.empty() || std::ssize(c.windows) == c.described_layers(),
          "windows has {} numbers, expected one for each of the {} {} layers", c.windows.size(),
          c.described_layers(), c.decoder_layers > 0 ? "decoder" : "encoder");
  for (const int64_t window : c.windows)
    require(window >= 0, "windows has the number {}, expected at least 0", window);
}

/// What only encoders have.
void check_encoder_options(const ModelConfig& c) {
  check_size("embedding_size", c.embedding_size, 0);
  check_size("num_hidden_groups", c.layer_groups, 0);
  require(c.layer_groups <= c.encoder_layers,
          "num_hidden_groups is {}, expected at most num_hidden_layers, which is {}",
          c.layer_groups, c.encoder_layers);
  const bool plain =
      c.embedding_size == 0 && c.layer_groups == 0 && c.positions != PositionKind::alibi;
  require(
      plain || c.decoder_layers == 0,
      "embedding_size, num_hidden_groups and alibi positions need an encoder without a decoder");
  require(c.layer_groups == 0 || (!c.moe.present() && c.windows.empty() && c.first_attn_norm),
          "num_hidden_groups is {}, expected 0 where layers differ", c.layer_groups);
  require(c.embedding_size == 0 || !c.has_head || c.head_transform,
          "embedding_size is {}, expected 0 with a head without head_transform", c.embedding_size);
}

void check_disentangled(const ModelConfig& c) {
  const nn::DisentangledConfig& d = c.disentangled;
  if (!d.present()) return;
  check_size("max_relative_positions", d.max_distance, 2);
  check_size("position_buckets", d.buckets, 0);
  require(d.buckets == 0 || (d.buckets >= 4 && d.max_distance - 1 > d.buckets / 2),
          "position_buckets is {}, expected 0, or at least 4 and less than twice "
          "max_relative_positions - 1, which is {}",
          d.buckets, d.max_distance - 1);
  require(c.decoder_layers == 0 && c.n_kv_heads == c.n_heads && c.v_head_dim == c.head_dim &&
              c.encoder_heads == c.n_heads && !c.latent.present() && !c.qk_norm &&
              (c.positions == PositionKind::none || c.positions == PositionKind::learned),
          "disentangled attention needs an encoder without a decoder, with as many key/value heads "
          "as heads, and learned positions or none");
}

void check_latent(const ModelConfig& c) {
  if (!c.latent.present()) return;
  check_size("kv_lora_rank", c.latent.kv_lora_rank, 1);
  check_size("q_lora_rank", c.latent.q_lora_rank, 0);
  check_size("qk_rope_head_dim", c.latent.qk_rope_head_dim, 1);
  require(c.latent.qk_rope_head_dim % 2 == 0, "qk_rope_head_dim is {}, expected an even number",
          c.latent.qk_rope_head_dim);
  require(c.positions == PositionKind::rotary,
          "multi-head latent attention needs rotary positions, found {}", name_of(c.positions));
  require(c.latent.qk_rope_head_dim < c.head_dim,
          "qk_rope_head_dim is {}, expected less than head_dim, which is {}",
          c.latent.qk_rope_head_dim, c.head_dim);
}

void check_moe(const ModelConfig& c) {
  if (!c.moe.present()) return;
  const nn::MoeConfig& m = c.moe;
  check_size("n_routed_experts", m.n_experts, 1,
             kMaxExperts / std::max<int64_t>(c.encoder_layers + c.decoder_layers, 1));
  check_size("moe_intermediate_size", m.d_expert, 1);
  check_size("n_shared_experts", m.n_shared_experts, 0);
  check_size("n_shared_experts * moe_intermediate_size", m.n_shared_experts * m.d_expert, 0);
  check_size("first_k_dense_replace", c.first_k_dense_replace, 0);
  check_size("moe_every_n_layers", c.moe_every_n_layers, 1);
  require(m.n_group >= 1 && m.n_experts % m.n_group == 0,
          "n_routed_experts is {}, not divisible by n_group, which is {}", m.n_experts, m.n_group);
  check_size("topk_group", m.topk_group, 1, m.n_group);
  check_size("num_experts_per_tok", m.experts_per_token, 1, m.n_experts / m.n_group * m.topk_group);
}

/// Replaces a zero in the rotated width by its default.
void complete_rotary(ModelConfig& c) {
  check_not_negative("rope_local_base_freq", static_cast<float>(c.rotary_local_theta));
  const bool plain = c.positions == PositionKind::rotary && !c.latent.present();
  require(plain || (c.rotary_dim == 0 && c.rotary_local_theta == 0.0 && c.rotary_layers.empty()),
          "rotary_dim, rope_local_base_freq and rope_layers need rotary positions without latent "
          "attention");
  if (!plain) return;
  if (c.rotary_dim == 0) c.rotary_dim = c.head_dim;
  check_size("rotary_dim", c.rotary_dim, 1, c.head_dim);
  require(c.rotary_dim % 2 == 0,
          "head_dim is {}, of which {} columns are rotated, expected an even number", c.head_dim,
          c.rotary_dim);
  require(c.rotary_layers.empty() || std::ssize(c.rotary_layers) == c.described_layers(),
          "rope_layers has {} numbers, expected one for each of the {} {} layers",
          c.rotary_layers.size(), c.described_layers(),
          c.decoder_layers > 0 ? "decoder" : "encoder");
  for (const int64_t rotated : c.rotary_layers)
    require(rotated == 0 || rotated == 1, "rope_layers has the number {}, expected 0 or 1",
            rotated);
}

void check_options(const ModelConfig& c) {
  require(c.gated || c.activation != kernels::Activation::clamped_swiglu,
          "hidden_act is clamped_swiglu, expected another one without is_gated_act");
  require(!c.attention_sinks || !c.latent.present(),
          "attention_sinks is true, expected false with multi-head latent attention");
}

void check_residual(const ModelConfig& c) {
  require(std::isfinite(c.residual_multiplier), "residual_multiplier is {}, expected a number",
          c.residual_multiplier);
  if (!c.parallel_residual) return;
  require(c.norm_placement == nn::NormPlacement::pre,
          "norm_placement is {}, expected pre with use_parallel_residual",
          name_of(c.norm_placement));
  require(c.encoder_layers == 0 || c.decoder_layers == 0,
          "use_parallel_residual is true, expected false with cross-attention");
}

void check_positions(const ModelConfig& c) {
  check_size("max_position_embeddings", c.max_positions, 1);
  if (c.positions == PositionKind::sinusoidal)
    check_size("max_position_embeddings", c.max_positions, 1, kMaxTable / c.d_model);
  require(!c.fairseq_sinusoids ||
              (c.positions == PositionKind::sinusoidal && c.d_model % 2 == 0 && c.d_model > 2),
          "fairseq_sinusoids is true, expected false without sinusoidal positions, and for d_model "
          "{}",
          c.d_model);
  require(c.first_position >= 0 && c.first_position <= kMaxSize,
          "first_position is {}, expected 0 to {}", c.first_position, kMaxSize);
  require(!c.skips_padding || c.first_position > 0,
          "skips_padding is true, expected false with first_position 0");
  if (c.has_relative_table()) {
    check_size("relative_attention_num_buckets", c.relative_num_buckets, 4);
    require(
        c.relative_max_distance > c.relative_num_buckets / 2 && c.relative_max_distance <= kMaxSize,
        "relative_attention_max_distance is {}, expected more than half of "
        "relative_attention_num_buckets, which is {}",
        c.relative_max_distance, c.relative_num_buckets);
  }
}

void check_classifier(const ModelConfig& c) {
  if (!c.classifier.present()) return;
  check_size("the number of labels", std::ssize(c.classifier.labels), 1);
  require(c.encoder_layers == 0 || c.decoder_layers == 0,
          "the model is an encoder-decoder, expected an encoder or a decoder for classification");
  require(!c.has_head, "the model has a classifier, expected no head that predicts tokens");
}

void check_tokens(const ModelConfig& c) {
  for (const auto& [name, id, least] : {std::tuple{"pad_token_id", c.pad_id, -1},
                                        {"bos_token_id", c.bos_id, -1},
                                        {"eos_token_id", c.eos_id, -1},
                                        {"decoder_start_token_id", c.decoder_start_id,
                                         c.encoder_layers > 0 && c.decoder_layers > 0 ? 0 : -1}})
    require(id >= least && id < c.vocab_size, "{} is {}, expected {} to {}", name, id, least,
            c.vocab_size - 1);
  require(c.other_eos_ids.empty() || c.eos_id >= 0,
          "other_eos_token_ids is given without eos_token_id");
  for (const int64_t id : c.other_eos_ids) check_size("an eos_token_id", id, 0, c.vocab_size - 1);
}

}  // namespace

void ModelConfig::validate() {
  check_size("vocab_size", vocab_size, 2);
  check_size("encoder_vocab_size", encoder_vocab_size, 0);
  require(encoder_vocab_size == 0 || (encoder_layers > 0 && decoder_layers > 0),
          "encoder_vocab_size is {}, expected 0 without an encoder and a decoder",
          encoder_vocab_size);
  check_size("d_model", d_model, 1);
  check_size("d_ff", d_ff, 1);
  check_size("type_vocab_size", type_vocab_size, 0);
  complete_heads(*this);
  complete_encoder(*this);
  check_layers(*this);
  check_encoder_options(*this);
  check_disentangled(*this);
  check_positions(*this);
  check_latent(*this);
  complete_rotary(*this);
  check_options(*this);
  check_residual(*this);
  check_moe(*this);
  check_classifier(*this);
  check_rate("dropout", dropout);
  check_rate("attention_dropout", attention_dropout);
  check_rate("activation_dropout", activation_dropout);
  check_not_negative("norm_eps", norm_epsilon);
  check_not_negative("attention_scale", attention_scale);
  check_not_negative("attn_logit_softcapping", attn_logit_softcapping);
  check_not_negative("final_logit_softcapping", final_logit_softcapping);
  require(std::isfinite(head_scale), "head_scale is {}, expected a number", head_scale);
  require(std::isfinite(embedding_multiplier), "embedding_multiplier is {}, expected a number",
          embedding_multiplier);
  check_tokens(*this);
}

void ModelConfig::set_context(int64_t tokens) {
  const nn::RotaryScaling& s = rotary_scaling;
  require(positions == PositionKind::rotary && s.kind != nn::RotaryScaling::Kind::none,
          "the context can be chosen only where rotary positions are scaled (rope_type linear, "
          "llama3, yarn, dynamic or longrope)");
  const auto original =
      static_cast<double>(s.original_max_positions > 0 ? s.original_max_positions : max_positions);
  const double longest =
      std::max({s.factor * original, original,
                s.depends_on_context() ? 0.0 : static_cast<double>(max_positions)});
  check_size("the context", tokens, s.depends_on_context() ? s.original_max_positions : 1,
             std::llround(std::min(longest, static_cast<double>(kMaxSize))));
  max_positions = tokens;
}

std::vector<int32_t> ModelConfig::eos_ids() const {
  std::vector<int32_t> ids;
  if (eos_id >= 0) ids.push_back(eos_id);
  for (const int64_t id : other_eos_ids) ids.push_back(static_cast<int32_t>(id));
  return ids;
}

std::string_view name_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::none:
      return "none";
    case PositionKind::sinusoidal:
      return "sinusoidal";
    case PositionKind::learned:
      return "learned";
    case PositionKind::rotary:
      return "rotary";
    case PositionKind::relative:
      return "relative";
    case PositionKind::alibi:
      return "alibi";
  }
  return "?";
}

}  // namespace heed::model
