#pragma once

#include <filesystem>
#include <string>

#include "heed/checkpoint/model_directory.h"
#include "heed/io/safetensors.h"
#include "heed/model.h"
#include "heed/quantize/precision.h"
#include "heed/text/translation_tokenizer.h"
#include "tests/base/testing.h"

namespace heed::engine {

/// Copies a SentencePiece model of 117 pieces into a model directory.
inline void write_tokenizer(const std::filesystem::path& folder) {
  const std::filesystem::path golden = std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden";
  std::filesystem::copy_file(golden / "sentencepiece/bpe.model", folder / "tokenizer.model");
  write_quickly(folder / "tokenizer_config.json",
                R"({"add_bos_token": false, "add_eos_token": false})");
}

/// Gives a directory with a config.json random weights.
inline void write_weights(const std::filesystem::path& folder) {
  const auto model = checkpoint::OpenedModel(folder, {.random_seed = 7}).load();
  checkpoint::save_model(folder, *model, {});
}

/// A small Llama with 64 tokens of context.
inline void write_decoder(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_tokenizer(folder);
  write_quickly(folder / "config.json", R"({
    "model_type": "llama", "vocab_size": 120, "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 2})");
  write_weights(folder);
}

/// A small BERT with 32 tokens of context, for masked words or, without `masked`, for embeddings.
inline void write_encoder(const std::filesystem::path& folder, bool masked) {
  std::filesystem::create_directories(folder);
  write_quickly(folder / "vocab.txt",
                "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nold\nsea\nship\nwent\nout\nin\n");
  write_quickly(folder / "config.json",
                R"({"model_type": "bert", "vocab_size": 12, "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 32, "hidden_act": "gelu", "architectures": [")" +
                    std::string(masked ? "BertForMaskedLM" : "BertModel") + "\"]}");
  write_weights(folder);
}

/// Rewrites the weights of a model directory in bf16.
inline void store_in_16_bits(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "model.safetensors";
  std::vector<io::NamedTensor> tensors;
  {
    const auto weights = io::SafetensorsFile::open(file);
    for (const std::string& name : weights->names())
      tensors.emplace_back(name, quantize::in_precision(weights->get(name), {DType::bf16}).clone());
  }
  std::filesystem::remove(file);
  io::write_safetensors(file, tensors, {});
}

/// A small translator with 64 tokens of context. Its translations vary with the line and end.
inline void write_translator(const std::filesystem::path& folder) {
  const auto tokenizer = text::TranslationTokenizer::shared(text::SentencePiece::load(
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model"));
  model::ModelConfig config;
  config.vocab_size = tokenizer.vocab_size();
  config.d_model = 64;
  config.encoder_layers = config.decoder_layers = 2;
  config.n_heads = 4;
  config.d_ff = 96;
  config.max_positions = 64;
  config.decoder_start_id = 1;
  config.eos_id = tokenizer.encode_source("").back();
  model::Transformer model(config, 5);
  Tensor& table = model.parameters().named("model.shared.weight").value;
  for (int64_t i = 0; i < table.elements(); ++i) table.data<float>()[i] *= 3;
  model.parameters().named("final_logits_bias").value.data<float>()[config.eos_id] = 1.0f;
  checkpoint::save_model(folder, model, tokenizer.files());
}

/// A small T5, which has one tokenizer for both sides.
inline void write_t5(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_tokenizer(folder);
  write_quickly(folder / "config.json", R"({
    "model_type": "t5", "vocab_size": 128, "d_model": 64, "num_layers": 2, "num_heads": 4,
    "d_kv": 16, "d_ff": 96, "tie_word_embeddings": true})");
  write_weights(folder);
}

/// One directory of each kind.
class SmallModels {
 public:
  std::filesystem::path decoder() const { return folder_ / "decoder"; }
  std::filesystem::path encoder() const { return folder_ / "encoder"; }
  std::filesystem::path masked() const { return folder_ / "masked"; }
  std::filesystem::path translator() const { return folder_ / "translator"; }
  std::filesystem::path t5() const { return folder_ / "t5"; }

 private:
  friend const SmallModels& models();
  SmallModels() {
    write_decoder(decoder());
    write_encoder(encoder(), false);
    write_encoder(masked(), true);
    write_translator(translator());
    write_t5(t5());
  }

  TemporaryDirectory folder_;
};

/// Made once for all tests of a program.
inline const SmallModels& models() {
  static const SmallModels models;
  return models;
}

}  // namespace heed::engine
