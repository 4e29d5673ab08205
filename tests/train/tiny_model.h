#pragma once

#include "heed/model/config.h"

namespace heed::train::testing {

/// A translator for tests of single steps.
inline model::ModelConfig tiny_model() {
  model::ModelConfig config;
  config.vocab_size = 40;
  config.d_model = 16;
  config.encoder_layers = config.decoder_layers = 1;
  config.n_heads = 2;
  config.d_ff = 32;
  config.max_positions = 16;
  config.dropout = 0.0f;
  return config;
}

}  // namespace heed::train::testing
