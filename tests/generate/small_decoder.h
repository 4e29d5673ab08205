#pragma once

#include <memory>
#include <ostream>

#include "heed/model/transformer.h"

namespace heed::generate {

/// A small decoder-only model like Llama.
inline model::ModelConfig small_decoder() {
  model::ModelConfig c;
  c.vocab_size = 60;
  c.d_model = 32;
  c.encoder_layers = 0;
  c.decoder_layers = 2;
  c.n_heads = 4;
  c.d_ff = 48;
  c.max_positions = 64;
  c.positions = model::PositionKind::rotary;
  c.norm = nn::NormKind::rms;
  c.norm_placement = nn::NormPlacement::pre;
  c.activation = kernels::Activation::silu;
  c.gated = true;
  c.qkv_bias = c.o_bias = c.ff_bias = c.head_bias = false;
  c.scale_embedding = false;
  c.pad_id = -1;
  return c;
}

/// A change of small_decoder() to another kind of model.
struct DecoderVariant {
  const char* name;
  void (*change)(model::ModelConfig&);
};

inline std::ostream& operator<<(std::ostream& out, const DecoderVariant& c) {
  return out << c.name;
}

inline const DecoderVariant kDecoderVariants[] = {
    {"grouped", [](model::ModelConfig& c) { c.n_kv_heads = 2; }},
    {"windows",
     [](model::ModelConfig& c) {
       c.windows = {5, 0};
       c.attn_logit_softcapping = 20.0f;
     }},
    {"latent_attention_experts",
     [](model::ModelConfig& c) {
       c.latent = {.kv_lora_rank = 16, .q_lora_rank = 0, .qk_rope_head_dim = 4};
       c.head_dim = 12;
       c.v_head_dim = 8;
       c.pair_layout = kernels::PairLayout::interleaved;
       c.moe.n_experts = 6;
       c.moe.experts_per_token = 2;
       c.moe.n_shared_experts = 1;
       c.moe.d_expert = 16;
       c.first_k_dense_replace = 1;
     }},
    {"relative", [](model::ModelConfig& c) { c.positions = model::PositionKind::relative; }},
    {"learned", [](model::ModelConfig& c) { c.positions = model::PositionKind::learned; }},
    {"encoder_decoder", [](model::ModelConfig& c) {
       c.encoder_layers = 2;
       c.positions = model::PositionKind::relative;
     }}};

/// Weights large enough for outputs to vary.
inline std::unique_ptr<model::Transformer> varied_model(const DecoderVariant& c,
                                                        int64_t max_positions = 64) {
  model::ModelConfig config = small_decoder();
  config.max_positions = max_positions;
  c.change(config);
  auto model = std::make_unique<model::Transformer>(config, 11);
  for (Parameter& parameter : model->parameters().all())
    if (parameter.shape.rank() == 2)
      for (int64_t i = 0; i < parameter.value.elements(); ++i)
        parameter.value.data<float>()[i] *= 3.0f;
  return model;
}

}  // namespace heed::generate
