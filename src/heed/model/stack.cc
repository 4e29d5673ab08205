#include "heed/model/stack.h"

#include <algorithm>
#include <cmath>

#include "heed/base/interrupt.h"
#include "heed/model/families/family.h"

namespace heed::model {
namespace {

nn::Norm::Settings norm_settings(const ModelConfig& c) {
  return {.kind = c.norm,
          .d_model = c.d_model,
          .epsilon = c.norm_epsilon,
          .unit_offset = c.norm_unit_offset,
          .bias = c.norm_bias};
}

/// Whether `windows` and `rotary_layers` are those of this stack.
bool is_described(const ModelConfig& c, Stack::Kind kind) {
  return kind == Stack::Kind::decoder || c.decoder_layers == 0;
}

nn::Embeddings::Settings embedding_settings(const ModelConfig& c, Stack::Kind kind) {
  nn::Embeddings::Settings settings{
      .d_model = c.d_model,
      .width = c.embedding_size,
      .vocab_size = c.vocab_size,
      .padding = padding_token(c),
      .scale = (c.scale_embedding ? std::sqrt(static_cast<float>(c.d_model)) : 1.0f) *
               c.embedding_multiplier,
      .type_vocab_size = c.type_vocab_size,
      .dropout = c.dropout};
  if (c.positions == PositionKind::sinusoidal)
    settings.sinusoids = {.max_positions = c.first_position + c.max_positions,
                          .d_model = c.embedding_width(),
                          .layout = c.pair_layout,
                          .fairseq = c.fairseq_sinusoids,
                          .zero_row = c.skips_padding ? c.first_position - 1 : -1};
  if (c.positions == PositionKind::learned)
    settings.learned_positions = c.first_position + c.max_positions;
  settings.first_position = c.first_position;
  if (c.skips_padding && kind == Stack::Kind::encoder) settings.padding_id = c.pad_id;
  if (c.embedding_norm) {
    settings.norm = norm_settings(c);
    settings.norm->d_model = c.embedding_width();
  }
  return settings;
}

nn::Attention::Settings attention_settings(const ModelConfig& c, Stack::Kind kind, size_t layer) {
  nn::Attention::Settings settings{.d_model = c.d_model,
                                   .n_heads = c.n_heads,
                                   .n_kv_heads = c.n_kv_heads,
                                   .head_dim = c.head_dim,
                                   .v_head_dim = c.v_head_dim,
                                   .qkv_bias = c.qkv_bias,
                                   .o_bias = c.o_bias,
                                   .scale = c.attention_scale,
                                   .soft_cap = c.attn_logit_softcapping,
                                   .dropout = c.attention_dropout,
                                   .rotary_layout = c.pair_layout};
  if (kind == Stack::Kind::encoder && c.encoder_heads != c.n_heads) {
    settings.n_heads = settings.n_kv_heads = c.encoder_heads;
    settings.head_dim = settings.v_head_dim = c.d_model / c.encoder_heads;
  }
  if (c.scale_attn_by_inverse_layer_idx) settings.scale_divisor = static_cast<float>(layer + 1);
  if (c.qk_norm)
    settings.qk_norm = {.epsilon = c.norm_epsilon,
                        .unit_offset = c.norm_unit_offset,
                        .across_heads = c.qk_norm_across_heads};
  settings.sinks = c.attention_sinks;
  settings.disentangled = c.disentangled;
  settings.position_dropout = c.dropout;
  if (is_described(c, kind) && layer < c.windows.size()) settings.window = c.windows[layer];
  return settings;
}

nn::TransformerLayer::Settings layer_settings(const ModelConfig& c, Stack::Kind kind, int layer) {
  const bool decoder = kind == Stack::Kind::decoder;
  nn::TransformerLayer::Settings settings{
      .attention = attention_settings(c, kind, static_cast<size_t>(layer)),
      .latent = c.latent,
      .feed_forward = {.d_model = c.d_model,
                       .d_ff = decoder ? c.d_ff : c.encoder_d_ff,
                       .activation = c.activation,
                       .gated = c.gated,
                       .bias = c.ff_bias,
                       .up_bias = c.ff_up_bias,
                       .dropout = c.activation_dropout},
      .norm = norm_settings(c),
      .placement = c.norm_placement,
      .attention_norm = layer > 0 || c.first_attn_norm,
      .dropout = c.dropout,
      .residual_multiplier = c.residual_multiplier,
      .parallel = c.parallel_residual,
      .decoder = decoder,
      .cross_attention = decoder && c.encoder_layers > 0};
  if (layer >= c.first_k_dense_replace && layer % c.moe_every_n_layers == 1 % c.moe_every_n_layers)
    settings.moe = c.moe;
  return settings;
}

nn::RotarySettings rotary_settings(const ModelConfig& c) {
  return {.width = c.latent.present() ? c.latent.qk_rope_head_dim : c.rotary_dim,
          .theta = c.rotary_theta,
          .scaling = c.rotary_scaling,
          .max_positions = c.max_positions};
}

/// Of layers with a window, in models that give them a base of their own.
nn::RotarySettings local_rotary_settings(const ModelConfig& c) {
  return {.width = c.rotary_dim, .theta = c.rotary_local_theta, .max_positions = c.max_positions};
}

/// The positions that each of the stack's layers uses.
std::vector<Stack::Positions> layer_positions(const ModelConfig& c, Stack::Kind kind) {
  std::vector<Stack::Positions> all(
      static_cast<size_t>(kind == Stack::Kind::encoder ? c.encoder_layers : c.decoder_layers),
      Stack::Positions::all);
  if (!is_described(c, kind)) return all;
  for (size_t layer = 0; layer < all.size(); ++layer) {
    if (c.rotary_local_theta > 0.0 && layer < c.windows.size() && c.windows[layer] > 0)
      all[layer] = Stack::Positions::local;
    if (layer < c.rotary_layers.size() && c.rotary_layers[layer] == 0)
      all[layer] = Stack::Positions::none;
  }
  return all;
}

WeightPlace::Stack place_of(Stack::Kind kind) {
  return kind == Stack::Kind::encoder ? WeightPlace::Stack::encoder : WeightPlace::Stack::decoder;
}

/// The sizes of this part of a tensor-parallel model.
ModelConfig part_of(ModelConfig c, const nn::TensorParallel* parts) {
  if (!parts) return c;
  c.n_heads /= parts->world_size();
  c.n_kv_heads /= parts->world_size();
  c.d_ff /= parts->world_size();
  return c;
}

std::string_view prefix(Stack::Kind kind) {
  return kind == Stack::Kind::encoder ? "model.encoder" : "model.decoder";
}

/// The longest sequence of keys.
int64_t reach(const kernels::AttentionMetadata& spans) {
  int64_t longest = 1;
  for (size_t b = 0; b < spans.kv_begin.size(); ++b)
    longest = std::max<int64_t>(longest, spans.kv_end[b] - spans.kv_begin[b]);
  return longest;
}

}  // namespace

Stack::Stack(nn::Parameters& parameters, const ModelConfig& c, Kind kind, const Parameter& tokens)
    : Stack(parameters, nn::Parameters::Scope(parameters, {.stack = place_of(kind)}),
            part_of(c, parameters.parts()), kind, tokens) {}

Stack::Stack(nn::Parameters& parameters, const nn::Parameters::Scope&, const ModelConfig& c,
             Kind kind, const Parameter& tokens)
    : embeddings_(parameters, std::string(prefix(kind)), tokens, embedding_settings(c, kind)),
      positions_(layer_positions(c, kind)) {
  const std::string name(prefix(kind));
  const int64_t layers = kind == Kind::encoder ? c.encoder_layers : c.decoder_layers;
  WeightPlace place = parameters.place();
  place.n_layers = c.layer_groups > 0 ? c.layer_groups : layers;
  for (int layer = 0; layer < layers; ++layer) {
    place.layer = layer * place.n_layers / layers;  // of the weights
    const nn::Parameters::Scope scope(parameters, place);
    std::optional<nn::Parameters::Sharing> sharing;
    if (layer > 0 && place.layer == (layer - 1) * place.n_layers / layers)
      sharing.emplace(parameters);
    layers_.emplace_back(parameters, name + ".layers." + std::to_string(place.layer),
                         layer_settings(c, kind, layer), layer);
  }
  if (c.norm_placement != nn::NormPlacement::post)
    norm_.emplace(parameters, name + ".layer_norm", norm_settings(c));
  if (c.positions == PositionKind::rotary) rotary_.emplace(rotary_settings(c));
  if (c.rotary_local_theta > 0.0) local_rotary_.emplace(local_rotary_settings(c));
  if (c.positions == PositionKind::alibi) alibi_.emplace(c.encoder_heads);
  if (c.disentangled.present())
    distances_.emplace(parameters, name + ".relative_embeddings", c.disentangled, norm_settings(c));
  if (c.has_relative_table())
    relative_bias_.emplace(parameters, name + ".relative_attention_bias",
                           kind == Kind::encoder ? c.encoder_heads : c.n_heads,
                           ops::RelativeBuckets{.buckets = c.relative_num_buckets,
                                                .max_distance = c.relative_max_distance,
                                                .bidirectional = kind == Kind::encoder});
}

const nn::PositionEncoding& Stack::Encodings::of(Positions positions) const {
  return positions == Positions::all ? all : positions == Positions::local ? local : none;
}

Stack::Encodings Stack::position_encodings(Context& context, const Inputs& reads) const {
  Encodings encodings;
  if (rotary_) encodings.all.rotation = rotary_->at(reads.positions);
  if (local_rotary_) encodings.local.rotation = local_rotary_->at(reads.positions);
  if (relative_bias_)
    encodings.all.relative_bias = relative_bias_->forward(context, reach(*reads.own_spans.spans));
  if (alibi_) encodings.all.relative_bias = alibi_->forward(reach(*reads.own_spans.spans));
  if (distances_)
    encodings.all.relative = distances_->forward(context, reads.own_spans.spans->q_offsets);
  return encodings;
}

Tensor Stack::forward(Context& context, std::span<const int32_t> ids, const Inputs& reads) const {
  const Encodings encodings = position_encodings(context, reads);
  const nn::KeysValues none;
  Tensor x = embeddings_.forward(context, ids, reads.positions, reads.types);  // [N, D]
  if (reads.layer_states) reads.layer_states->push_back(x);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    check_interrupted();
    x = layers_[layer].forward(
        context, x,
        {reads.caches[layer], reads.own_spans, encodings.of(positions_[layer]),
         reads.memory.empty() ? none : reads.memory[layer], reads.memory_spans});  // [N, D]
    if (reads.layer_states) reads.layer_states->push_back(x);
  }
  return norm_ ? norm_->forward(context, x) : x;
}

}  // namespace heed::model
