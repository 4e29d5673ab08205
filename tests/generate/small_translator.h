#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

inline const text::TranslationTokenizer& translator_tokenizer() {
  static const text::TranslationTokenizer shared =
      text::TranslationTokenizer::shared(text::SentencePiece::load(
          std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model"));
  return shared;
}

inline model::ModelConfig translator_config() {
  model::ModelConfig config;
  config.vocab_size = translator_tokenizer().vocab_size();
  config.d_model = 16;
  config.encoder_layers = config.decoder_layers = 2;
  config.n_heads = 4;
  config.d_ff = 32;
  config.max_positions = 64;
  config.decoder_start_id = 1;
  config.eos_id = translator_tokenizer().encode_source("").back();
  return config;
}

/// A model whose translations vary with the line and sometimes end early.
inline std::unique_ptr<model::Transformer> varied_translator() {
  auto model = std::make_unique<model::Transformer>(translator_config(), 5);
  Tensor& table = model->parameters().named("model.shared.weight").value;
  for (int64_t i = 0; i < table.elements(); ++i) table.data<float>()[i] *= 3;
  model->parameters().named("final_logits_bias").value.data<float>()[translator_config().eos_id] =
      4.0f;
  return model;
}

/// Lines of many lengths, some empty.
inline std::vector<std::string> translator_lines(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line;
    for (int word = 0; word < (i * 7) % 11; ++word)
      line += std::string("the old sailor forgot ").substr(static_cast<size_t>((i + word) % 9), 8);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace heed::generate
