#include "heed/checkpoint/gguf_encoders.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/fused_weights.h"
#include "heed/text/utf8.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr const char* kHead = "cls.output.weight";

/// The fields of config.json for a head that gives labels to a text. A file without their names has
/// numbers. llama.cpp's score of a pair is the logit.
Json classifier_fields(const ArchitectureMetadata& metadata, std::string_view stem) {
  const io::GgufFile& file = metadata.file();
  if (!file.contains(kHead)) {
    require(!file.contains("cls.weight"), "{}: has cls.weight without {}, which heed needs",
            file.name(), kHead);
    return {{"architectures", Json::array({fmt::format("{}Model", stem)})},
            {"add_pooling_layer", false}};
  }
  Json json = {{"architectures", Json::array({fmt::format("{}ForSequenceClassification", stem)})},
               {"sentence_transformers", {{"activation_fn", "torch.nn.modules.linear.Identity"}}}};
  constexpr const char* kLabels = "classifier.output_labels";
  if (!metadata.contains(kLabels)) {
    const Shape& shape = file.entry(kHead).shape;
    json["num_labels"] = shape.rank() == 2 ? shape[0] : 1;
    return json;
  }
  for (const std::string_view label : metadata.get<std::vector<std::string_view>>(kLabels)) {
    require(text::is_valid_utf8(label), "{}: a label is not valid UTF-8", file.name());
    json["id2label"][std::to_string(json["id2label"].size())] = label;
  }
  return json;
}

/// The part of config.json that all have.
Json like_bert(const ArchitectureMetadata& metadata, std::string_view model_type,
               std::string_view stem) {
  const io::GgufFile& file = metadata.file();
  require(!metadata.get_or("attention.causal", false),
          "{}: attention.causal is true, expected false for an encoder", file.name());
  Json json = {{"model_type", model_type},
               {"vocab_size", vocabulary_size(file)},
               {"hidden_size", metadata.get<int64_t>("embedding_length")},
               {"num_hidden_layers", layers(metadata)},
               {"num_attention_heads", metadata.get<int64_t>("attention.head_count")},
               {"intermediate_size", metadata.get<int64_t>("feed_forward_length")},
               {"layer_norm_eps", metadata.get<double>("attention.layer_norm_epsilon")},
               {"max_position_embeddings", metadata.get<int64_t>("context_length")},
               {"type_vocab_size", 0},
               {"bos_token_id", token(file, "bos")},
               {"eos_token_id", token(file, "eos")},
               {"pad_token_id", token(file, "padding")}};
  if (file.contains("token_types.weight")) {
    const Shape& types = file.entry("token_types.weight").shape;
    json["type_vocab_size"] = types.rank() == 2 ? types[0] : 1;
  }
  json.update(classifier_fields(metadata, stem));
  return json;
}

/// RoBERTa's and XLM-RoBERTa's: the first positions, which the file lacks, are those up to the
/// padding token's.
Json like_roberta(const ArchitectureMetadata& metadata, std::string_view model_type,
                  std::string_view stem) {
  Json json = like_bert(metadata, model_type, stem);
  if (json["pad_token_id"].is_null()) json["pad_token_id"] = 1;
  const auto padding = json["pad_token_id"].get<int64_t>();
  const auto length = json["max_position_embeddings"].get<int64_t>();
  constexpr int64_t kMost = int64_t{1} << 31;
  require(padding >= 0 && padding < kMost && length > 0 && length < kMost,
          "{}: context_length is {} and the padding token {}, expected fewer than {}",
          metadata.file().name(), length, padding, kMost);
  json["max_position_embeddings"] = length + padding + 1;
  json["hidden_act"] = "gelu";
  return json;
}

}  // namespace

nlohmann::json bert_config(const ArchitectureMetadata& metadata) {
  const auto tokenizer =
      metadata.file().metadata().get_or<std::string>("tokenizer.ggml.model", "bert");
  if (tokenizer == "gpt2") return like_roberta(metadata, "roberta", "Roberta");
  if (tokenizer == "t5") return like_roberta(metadata, "xlm-roberta", "XLMRoberta");
  Json json = like_bert(metadata, "bert", "Bert");
  json["hidden_act"] = "gelu";
  return json;
}

void set_gguf_classifier(const io::GgufFile& file, model::ModelConfig& config) {
  if (!config.classifier.present() || config.decoder_layers > 0) return;
  config.classifier.transform = file.contains("cls.weight");
  if (!model::family_of_type(config.family, file.name()).can_express(config))
    config.family = "heed";
}

nlohmann::json nomic_bert_config(const ArchitectureMetadata& metadata) {
  Json json = like_bert(metadata, "nomic_bert", "NomicBert");
  json["hidden_act"] = "silu";
  json["rope_theta"] = metadata.get_or("rope.freq_base", 1000.0);
  json["rope_scaling"] = rotary_scaling(metadata);
  return json;
}

/// The window is written as local_attention. Biases, which the published models lack, show in the
/// tensors.
nlohmann::json modern_bert_config(const ArchitectureMetadata& metadata) {
  const io::GgufFile& file = metadata.file();
  Json json = like_bert(metadata, "modernbert", "ModernBert");
  const Json scaling = rotary_scaling(metadata);
  require(scaling.is_null(), "{}: the rotary positions are scaled ({}), expected unscaled ones",
          file.name(), excerpt(scaling));
  json.update({{"hidden_activation", metadata.get_or<std::string>("hidden_activation", "gelu")},
               {"norm_eps", json["layer_norm_eps"]},
               {"norm_bias", file.contains("output_norm.bias")},
               {"attention_bias", file.contains("blk.0.attn_qkv.bias")},
               {"mlp_bias", file.contains("blk.0.ffn_up.bias")},
               {"local_attention", metadata.get<int64_t>("attention.sliding_window")},
               {"global_attn_every_n_layers",
                metadata.get_or<int64_t>("attention.sliding_window_pattern", 3)},
               {"global_rope_theta", metadata.get_or("rope.freq_base", 160000.0)},
               {"local_rope_theta", metadata.get_or("rope.freq_base_swa", 10000.0)}});
  constexpr int64_t kMean = 1;
  const bool mean = metadata.get_or<int64_t>("classifier.pooling_type", 0) == kMean;
  json["classifier_activation"] = json["hidden_activation"];
  json["classifier_pooling"] = mean ? "mean" : "cls";
  json["classifier_bias"] = file.contains("cls.bias");
  return json;
}

model::StoredWeight gguf_encoder_weight(const model::ModelConfig& c, const std::string& name,
                                        const Shape& shape) {
  const bool post = c.norm_placement == nn::NormPlacement::post;
  const std::string own =
      model::renamed(name, {{"classifier.dense.", "cls."},
                            {"classifier.layer_norm.", "cls.norm."},
                            {"classifier.out_proj.", "cls.output."},
                            {"model.shared.", "token_embd."},
                            {"model.encoder.embed_positions.", "position_embd."},
                            {"model.encoder.embed_types.", "token_types."},
                            {"model.encoder.layernorm_embedding.", "token_embd_norm."},
                            {"model.encoder.layer_norm.", "output_norm."},
                            {"model.encoder.layers.", "blk."},
                            {".self_attn_layer_norm.", post ? ".attn_output_norm." : ".attn_norm."},
                            {".final_layer_norm.", post ? ".layer_output_norm." : ".ffn_norm."},
                            {".self_attn.o_proj.", ".attn_output."},
                            {".self_attn.", ".attn_"},
                            {"_proj.", "."},
                            {".fc1.", ".ffn_up."},
                            {".fc2.", ".ffn_down."},
                            {".gate.", ".ffn_gate."},
                            {".up.", ".ffn_up."},
                            {".down.", ".ffn_down."}});
  if (c.positions != model::PositionKind::rotary) return {.name = own, .shape = shape};
  const int64_t heads = c.n_heads * c.head_dim;
  const model::StoredWeight weight = model::fused(
      {.name = own, .shape = shape}, {{".attn_q.", ".attn_qkv.", 0, 3 * heads},
                                      {".attn_k.", ".attn_qkv.", heads, 3 * heads},
                                      {".attn_v.", ".attn_qkv.", 2 * heads, 3 * heads}});
  if (post) return weight;
  return model::fused(weight, {{".ffn_gate.", ".ffn_up.", 0, 2 * c.d_ff},
                               {".ffn_up.", ".ffn_up.", c.d_ff, 2 * c.d_ff}});
}

}  // namespace heed::checkpoint
