#pragma once

#include "heed/model/config.h"

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

}  // namespace heed::generate
