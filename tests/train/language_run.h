#pragma once

#include "tests/train/tiny_run.h"

namespace heed::train::testing {

/// A text in which the two previous words determine the next, so that it can be learned.
inline void write_book(const TemporaryDirectory& folder, int sentences = 60) {
  const char* const subjects[] = {"the man", "the sun", "a light", "the sea"};
  const char* const verbs[] = {"saw", "made", "gave", "took"};
  std::ofstream book(folder / "book");
  for (int s = 0; s < sentences; ++s)
    book << subjects[s % 4] << ' ' << verbs[s / 4 % 4] << ' ' << subjects[(s + 1) % 4] << ".\n";
}

inline TrainConfig language_config(const TemporaryDirectory& folder) {
  TrainConfig config = tiny_config(folder);
  config.data = {};
  config.data.text = (folder / "book").string();
  config.data.held_out = 2;
  config.vocabulary.size = 320;
  config.optimizer.label_smoothing_factor = 0;
  config.validation.samples = 2;
  return config;
}

/// A Llama of a few thousand parameters.
inline TrainConfig causal_config(const TemporaryDirectory& folder) {
  TrainConfig config = language_config(folder);
  config.run.task = TaskKind::causal_lm;
  config.run.context = 24;
  model::ModelConfig& m = config.model;
  m.family = "llama";
  m.encoder_layers = 0;
  m.n_kv_heads = 1;
  m.norm = nn::NormKind::rms;
  m.norm_placement = nn::NormPlacement::pre;
  m.activation = kernels::Activation::silu;
  m.gated = true;
  m.positions = model::PositionKind::rotary;
  m.qkv_bias = m.o_bias = m.ff_bias = m.head_bias = m.scale_embedding = false;
  return config;
}

/// A small encoder with learned positions.
inline TrainConfig masked_config(const TemporaryDirectory& folder) {
  TrainConfig config = language_config(folder);
  config.run.task = TaskKind::masked_lm;
  config.data.document = data::DocumentEnd::line;
  model::ModelConfig& m = config.model;
  m.decoder_layers = 0;
  m.activation = kernels::Activation::gelu;
  m.positions = model::PositionKind::learned;
  m.embedding_norm = m.head_transform = true;
  m.scale_embedding = false;
  return config;
}

}  // namespace heed::train::testing
