#include "heed/model/families/known.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;
using kernels::Activation;

constexpr std::string_view kGated = "gated-";
constexpr int64_t kLongest = int64_t{1} << 20;  // relative biases do not limit the length

/// "relu", or "gated-" and an activation, where "gelu" means its approximation by tanh. Files may
/// have the two parts beside it, which then count.
void read_feed_forward(ConfigReader& json, ModelConfig& c) {
  const auto kind = json.get_or<std::string>("feed_forward_proj", "relu");
  const bool gated = kind.starts_with(kGated);
  const std::string own = gated ? kind.substr(kGated.size()) : kind;
  const auto name =
      json.get_or<std::string>("dense_act_fn", gated && own == "gelu" ? "gelu_new" : own);
  c.gated = json.get_or("is_gated_act", gated);
  c.activation = activation_of(name, "feed_forward_proj", json.file());
}

std::string feed_forward_text(const ModelConfig& c) {
  if (!c.gated) return std::string(name_of(c.activation));
  const bool approximated = c.activation == Activation::gelu_tanh;
  return fmt::format("{}{}", kGated, approximated ? "gelu" : name_of(c.activation));
}

/// Version 1.0 ties the head to the embedding and scales the head's input by D^(-1/2); version 1.1
/// does neither. The key for that is "tie_word_embeddings"; in newer files, where it is always
/// true, it is "scale_decoder_outputs". Then a file may lack the head, which is the embedding.
void read_head(ConfigReader& json, ModelConfig& c) {
  const bool tied = json.get_or("tie_word_embeddings", true);
  const bool scaled = json.get_or("scale_decoder_outputs", tied);
  c.tied_head = tied && scaled;
  c.head_scale = scaled ? 1.0f / std::sqrt(static_cast<float>(c.d_model)) : 1.0f;
  c.head_bias = false;
}

/// The encoder alone, "T5EncoderModel", or with labels of tokens, "T5ForTokenClassification".
/// Labels of a text would be read from the decoder.
void read_encoder_alone(ConfigReader& json, ModelConfig& c) {
  const std::string name = read_architecture(json);
  const auto kind = classifier_kind_of(name);
  require(kind != ClassifierConfig::Kind::sequence,
          "{}: architectures has {}: heed computes no labels of texts with T5", json.file(),
          one_line(name));
  if (kind == ClassifierConfig::Kind::none && !name.ends_with("EncoderModel")) return;
  c.decoder_layers = 0;
  c.has_head = c.tied_head = false;
  c.head_scale = 1.0f;
  c.classifier = read_classifier(json, kind);
}

ModelConfig read_t5(ConfigReader& json) {
  json.take_alias("hidden_size", "d_model");
  json.take_alias("num_attention_heads", "num_heads");
  json.take_alias("num_hidden_layers", "num_layers");
  json.take_alias("head_dim", "d_kv");
  json.set_defaults({{"dropout_rate", 0.1}});
  json.understand({"n_positions"});  // relative biases do not limit the length
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("d_model");
  c.encoder_layers = json.get<int64_t>("num_layers");
  c.decoder_layers = json.get_or<int64_t>("num_decoder_layers", c.encoder_layers);
  c.n_heads = json.get<int64_t>("num_heads");
  c.head_dim = c.v_head_dim = json.get<int64_t>("d_kv");
  c.d_ff = json.get<int64_t>("d_ff");
  read_feed_forward(json, c);
  c.norm = nn::NormKind::rms;
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon = static_cast<float>(json.get_or("layer_norm_epsilon", 1e-6));
  c.qkv_bias = c.o_bias = c.ff_bias = false;
  c.attention_scale = 1.0f;
  c.positions = PositionKind::relative;
  c.relative_num_buckets = json.get_or<int64_t>("relative_attention_num_buckets", 32);
  c.relative_max_distance = json.get_or<int64_t>("relative_attention_max_distance", 128);
  c.max_positions = kLongest;
  c.scale_embedding = false;
  read_head(json, c);
  read_encoder_alone(json, c);
  c.dropout = c.attention_dropout = c.activation_dropout = read_rate(json, "dropout_rate");
  c.pad_id = json.get_or<int32_t>("pad_token_id", 0);
  c.bos_id = read_token(json, "bos_token_id");
  read_eos(json, 1, c);
  c.decoder_start_id = json.get_or<int32_t>("decoder_start_token_id", c.pad_id);
  return c;
}

/// Always version 1.1, whatever "tie_word_embeddings" says.
ModelConfig read_mt5(ConfigReader& json) {
  json.set_defaults({{"feed_forward_proj", "gated-gelu"}});
  json.understand({"scale_decoder_outputs"});
  ModelConfig c = read_t5(json);
  c.tied_head = false;
  c.head_scale = 1.0f;
  return c;
}

nlohmann::json write_t5(const ModelConfig& c) {
  const char* const kind = c.classifier.present()                 ? "T5ForTokenClassification"
                           : c.decoder_layers == 0 && !c.has_head ? "T5EncoderModel"
                                                                  : "T5ForConditionalGeneration";
  nlohmann::json json = {{"architectures", {kind}},
                         {"model_type", "t5"},
                         {"vocab_size", c.vocab_size},
                         {"d_model", c.d_model},
                         {"num_layers", c.encoder_layers},
                         {"num_decoder_layers", c.decoder_layers},
                         {"num_heads", c.n_heads},
                         {"d_kv", c.head_dim},
                         {"d_ff", c.d_ff},
                         {"feed_forward_proj", feed_forward_text(c)},
                         {"layer_norm_epsilon", c.norm_epsilon},
                         {"relative_attention_num_buckets", c.relative_num_buckets},
                         {"relative_attention_max_distance", c.relative_max_distance},
                         {"tie_word_embeddings", c.tied_head},
                         {"scale_decoder_outputs", c.head_scale != 1.0f},
                         {"is_encoder_decoder", c.decoder_layers > 0},
                         {"dropout_rate", c.dropout},
                         {"pad_token_id", c.pad_id},
                         {"bos_token_id", token_json(c.bos_id)},
                         {"eos_token_id", eos_json(c)},
                         {"decoder_start_token_id", c.decoder_start_id},
                         {"torch_dtype", "float32"}};
  write_classifier(c.classifier, json);
  return json;
}

nlohmann::json write_mt5(const ModelConfig& c) {
  nlohmann::json json = write_t5(c);
  json["model_type"] = "mt5";
  json["architectures"] = {"M" + json["architectures"][0].get<std::string>()};
  return json;
}

/// The feed-forward network is the last of a block's sub-layers, after one attention or two.
std::string in_feed_forward(const std::string& name, std::string_view layer) {
  const std::string network = fmt::format(".layer.{}.DenseReluDense.", layer);
  const std::string norm = fmt::format(".layer.{}.layer_norm.", layer);
  return renamed(name, {{".fc1.", network + "wi."},
                        {".gate_proj.", network + "wi_0."},
                        {".up_proj.", network + "wi_1."},
                        {".fc2.", network + "wo."},
                        {".down_proj.", network + "wo."},
                        {".final_layer_norm.", norm}});
}

StoredWeight t5_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  if (name.starts_with("classifier."))
    return {.name = renamed(name, {{".out_proj.", "."}}), .shape = shape};
  const bool decoder = name.starts_with("model.decoder.");
  return {.name = renamed(in_feed_forward(name, decoder ? "2" : "1"),
                          {{".self_attn_layer_norm.", ".layer.0.layer_norm."},
                           {".encoder_attn_layer_norm.", ".layer.1.layer_norm."},
                           {".self_attn.", ".layer.0.SelfAttention."},
                           {".encoder_attn.", ".layer.1.EncDecAttention."},
                           {"_proj.", "."},
                           {"coder.relative_attention_bias.",
                            "coder.block.0.layer.0.SelfAttention.relative_attention_bias."},
                           {"coder.layer_norm.", "coder.final_layer_norm."},
                           {"coder.layers.", "coder.block."},
                           {"model.", c.classifier.present() ? "transformer." : ""}}),
          .shape = shape,
          .otherwise = name == "lm_head.weight" ? "shared.weight" : ""};
}

/// An unused table of the first files.
bool redundant_in_t5(std::string_view name) {
  return name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
}

constexpr std::string_view kGgufEncoder = "t5encoder";

/// T5's and mT5's. The activation and relative_attention_max_distance are not in the file: they are
/// those of all published models. A gated network is that of version 1.1, which does not scale the
/// head's input; a file without a head has the embedding in its place.
constexpr MetadataField kGgufT5[] = {
    required("embedding_length", "d_model", GgufType::u32),
    required("attention.head_count", "num_heads", GgufType::u32),
    required("attention.key_length", "d_kv", GgufType::u32),
    required("feed_forward_length", "d_ff", GgufType::u32),
    required("attention.layer_norm_rms_epsilon", "layer_norm_epsilon", GgufType::f32),
    required("attention.relative_buckets_count", "relative_attention_num_buckets", GgufType::u32),
    optional("decoder_block_count", "num_decoder_layers", GgufType::u32),
    with_default("decoder_start_token_id", "decoder_start_token_id", GgufType::u32, 0)};

void read_gguf_t5(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  const io::GgufFile& file = metadata.file();
  const bool gated = file.contains("enc.blk.0.ffn_gate.weight");
  config.update({{"vocab_size", vocabulary_size(file)},
                 {"num_layers", layers(metadata)},
                 {"feed_forward_proj", gated ? "gated-gelu" : "relu"},
                 {"tie_word_embeddings", !file.contains("output.weight")},
                 {"scale_decoder_outputs", !gated && !file.contains("output.weight")},
                 {"bos_token_id", token(file, "bos")},
                 {"eos_token_id", token(file, "eos")},
                 {"pad_token_id", config["decoder_start_token_id"]}});
  if (config["num_decoder_layers"].is_null()) config["num_decoder_layers"] = config["num_layers"];
  if (metadata.architecture() == kGgufEncoder) config["architectures"] = {"T5EncoderModel"};
}

/// llama.cpp reads the first of these, too, and takes a text of any length.
void write_gguf_t5(const ModelConfig& c, ArchitectureValues& metadata) {
  metadata.set("attention.layer_norm_epsilon", c.norm_epsilon);
  metadata.set("context_length", uint32_t{512});
}

/// The layers of T5's encoder and decoder have names of their own.
StoredWeight gguf_t5_weight(const ModelConfig&, const std::string& name, const Shape& shape) {
  return {
      .name = renamed(name, {{"model.shared.", "token_embd."},
                             {"lm_head.", "output."},
                             {"model.encoder.layers.", "enc.blk."},
                             {"model.decoder.layers.", "dec.blk."},
                             {"model.encoder.layer_norm.", "enc.output_norm."},
                             {"model.decoder.layer_norm.", "dec.output_norm."},
                             {"model.encoder.relative_attention_bias.", "enc.blk.0.attn_rel_b."},
                             {"model.decoder.relative_attention_bias.", "dec.blk.0.attn_rel_b."},
                             {".self_attn_layer_norm.", ".attn_norm."},
                             {".encoder_attn_layer_norm.", ".cross_attn_norm."},
                             {".final_layer_norm.", ".ffn_norm."},
                             {".self_attn.", ".attn_"},
                             {".encoder_attn.", ".cross_attn_"},
                             {".gate_proj.", ".ffn_gate."},
                             {".up_proj.", ".ffn_up."},
                             {".down_proj.", ".ffn_down."},
                             {".fc1.", ".ffn_up."},
                             {".fc2.", ".ffn_down."},
                             {"_proj.", "."}}),
      .shape = shape,
      .otherwise = name == "lm_head.weight" ? "token_embd.weight" : ""};
}

}  // namespace

/// T5 (Raffel et al. 2020): an encoder-decoder with relative positions, pre-norm RMSNorm, no
/// biases and no scaling of the scores; version 1.1 has gated feed-forward networks and a head of
/// its own.
Family t5_family() {
  return {.model_type = "t5",
          .read = read_t5,
          .write_config = write_t5,
          .stored = t5_weight,
          .redundant = redundant_in_t5,
          .gguf = {.architectures = {"t5", kGgufEncoder},
                   .fields = {kGgufT5},
                   .read = read_gguf_t5,
                   .write = write_gguf_t5,
                   .stored = gguf_t5_weight},
          .padded_embedding = false};
}

/// mT5 (Xue et al. 2020): version 1.1 with a vocabulary of many languages.
Family mt5_family() {
  Family family = t5_family();
  family.model_type = "mt5";
  family.read = read_mt5;
  family.write_config = write_mt5;
  family.gguf.holds = [](const ArchitectureMetadata&) { return false; };  // its files are T5's
  return family;
}

}  // namespace heed::model
