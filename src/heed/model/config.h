#pragma once

#include <cstdint>
#include <string>

#include "heed/kernels/activation.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/nn/transformer_layer.h"

namespace heed::model {

enum class PositionKind { none, sinusoidal, learned };

/// Everything that distinguishes one Transformer from another. A family (model/families/) is a
/// reader that fills this and a writer that says it in the family's words.
struct ModelConfig {
  int64_t vocab_size = 0;  // V
  int64_t d_model = 512;   // D
  int64_t encoder_layers = 6;
  int64_t decoder_layers = 6;
  int64_t n_heads = 8;     // H
  int64_t n_kv_heads = 0;  // G; 0: n_heads
  int64_t d_head = 0;      // d; 0: d_model / n_heads
  int64_t d_value = 0;     // d_v; 0: d_head
  int64_t d_ff = 2048;     // F

  kernels::Activation activation = kernels::Activation::relu;
  bool gated = false;
  nn::NormKind norm = nn::NormKind::layer;
  nn::NormPlacement norm_placement = nn::NormPlacement::post;
  float norm_epsilon = 1e-5f;
  bool linear_bias = true;

  PositionKind positions = PositionKind::sinusoidal;
  nn::SinusoidLayout sinusoid_layout = nn::SinusoidLayout::halves;
  int64_t max_positions = 1024;  // longest sequence
  bool scale_embedding = true;   // by sqrt(d_model)
  bool head_bias = true;         // added to the logits

  float dropout = 0.1f;
  float attention_dropout = 0.0f;
  float activation_dropout = 0.0f;

  int32_t pad_id = 0;
  int32_t eos_id = 1;
  int32_t start_id = 0;  // what the decoder reads first

  /// Replaces the zeros that stand for a default. Throws Error on sizes that cannot be: heads that
  /// do not divide, a width of zero, a special token outside the vocabulary.
  void validate();
};

/// "none", "sinusoidal" or "learned".
std::string_view name_of(PositionKind kind);

}  // namespace heed::model
