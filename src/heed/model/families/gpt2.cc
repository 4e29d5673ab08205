#include "heed/model/families/known.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

ModelConfig read_gpt2(ConfigReader& json) {
  json.take_alias("hidden_size", "n_embd");
  json.take_alias("num_hidden_layers", "n_layer");
  json.take_alias("num_attention_heads", "n_head");
  json.take_alias("max_position_embeddings", "n_positions");
  json.understand({"n_ctx"});  // of older files: n_positions
  json.set_defaults({{"activation_function", "gelu_new"},
                     {"bos_token_id", 50256},
                     {"eos_token_id", 50256},
                     {"resid_pdrop", 0.1},
                     {"attn_pdrop", 0.1}});
  json.expect("scale_attn_weights", true);
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("n_embd");
  c.encoder_layers = 0;
  c.decoder_layers = json.get<int64_t>("n_layer");
  c.n_heads = json.get<int64_t>("n_head");
  c.d_ff = json.get_or<int64_t>("n_inner", 4 * std::clamp<int64_t>(c.d_model, 0, 1 << 30));
  c.activation = read_activation(json, "activation_function");
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon = static_cast<float>(json.get_or("layer_norm_epsilon", 1e-5));
  c.scale_attn_by_inverse_layer_idx = json.get_or("scale_attn_by_inverse_layer_idx", false);
  c.positions = PositionKind::learned;
  c.max_positions = json.get_or<int64_t>("n_positions", 1024);
  c.scale_embedding = false;
  c.tied_head = json.get_or("tie_word_embeddings", true);
  c.head_bias = false;
  c.dropout = read_rate(json, "resid_pdrop");
  c.attention_dropout = read_rate(json, "attn_pdrop");
  read_decoder_tokens(json, c);
  return c;
}

nlohmann::json write_gpt2(const ModelConfig& c) {
  nlohmann::json json = {{"architectures", {"GPT2LMHeadModel"}},
                         {"model_type", "gpt2"},
                         {"vocab_size", c.vocab_size},
                         {"n_embd", c.d_model},
                         {"n_layer", c.decoder_layers},
                         {"n_head", c.n_heads},
                         {"n_inner", c.d_ff},
                         {"activation_function", name_of(c.activation)},
                         {"layer_norm_epsilon", c.norm_epsilon},
                         {"scale_attn_by_inverse_layer_idx", c.scale_attn_by_inverse_layer_idx},
                         {"n_positions", c.max_positions},
                         {"tie_word_embeddings", c.tied_head},
                         {"embd_pdrop", c.dropout},
                         {"resid_pdrop", c.dropout},
                         {"attn_pdrop", c.attention_dropout},
                         {"torch_dtype", "float32"}};
  write_decoder_tokens(c, json);
  return json;
}

/// The index of q_proj, k_proj or v_proj in GPT-2's fused projection; -1 for other names.
int64_t place_in_fused(const std::string& name) {
  int64_t place = 0;
  for (const char* projection : {".q_proj.", ".k_proj.", ".v_proj."}) {
    if (name.find(projection) != std::string::npos) return place;
    ++place;
  }
  return -1;
}

StoredWeight gpt2_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  StoredWeight weight{.name = renamed(name, {{"model.shared.", "transformer.wte."},
                                             {"model.decoder.embed_positions.", "transformer.wpe."},
                                             {"model.decoder.layer_norm.", "transformer.ln_f."},
                                             {"model.decoder.layers.", "transformer.h."},
                                             {".self_attn_layer_norm.", ".ln_1."},
                                             {".final_layer_norm.", ".ln_2."},
                                             {".self_attn.q_proj.", ".attn.c_attn."},
                                             {".self_attn.k_proj.", ".attn.c_attn."},
                                             {".self_attn.v_proj.", ".attn.c_attn."},
                                             {".self_attn.o_proj.", ".attn.c_proj."},
                                             {".fc1.", ".mlp.c_fc."},
                                             {".fc2.", ".mlp.c_proj."}}),
                      .shape = shape};
  if (!name.starts_with("model.decoder.layers.")) return weight;
  const bool matrix = shape.rank() == 2;
  int64_t rows = shape[0];
  if (const int64_t place = place_in_fused(name); place >= 0) {
    weight.first_row = place * c.d_model;
    rows = 3 * c.d_model;
  }
  weight.transposed = matrix;
  weight.shape = matrix ? Shape{shape[1], rows} : Shape{rows};
  return weight;
}

/// Causal masks, which the first files contain.
bool redundant_in_gpt2(std::string_view name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
}

constexpr MetadataField kGgufGpt2[] = {
    required("embedding_length", "n_embd", GgufType::u32),
    required("attention.head_count", "n_head", GgufType::u32),
    required("feed_forward_length", "n_inner", GgufType::u32),
    required("attention.layer_norm_epsilon", "layer_norm_epsilon", GgufType::f32),
    required("context_length", "n_positions", GgufType::u32)};

void read_gguf_gpt2(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  set_decoder_fields(metadata, config);
  config.update({{"n_layer", layers(metadata)}, {"activation_function", "gelu_new"}});
}

Family plain_gpt2() {
  return {.model_type = "gpt2",
          .read = read_gpt2,
          .write_config = write_gpt2,
          .stored = gpt2_weight,
          .prefix = "transformer.",
          .redundant = redundant_in_gpt2,
          .gguf = {.architectures = {"gpt2"},
                   .fields = {kGgufGpt2},
                   .read = read_gguf_gpt2,
                   .stored = gguf_fused_decoder_weight},
          .padded_embedding = false};
}

}  // namespace

/// GPT-2 (Radford et al. 2019): pre-norm LayerNorm, learned positions, biases everywhere, a tied
/// head. Its matrices are stored transposed, and q, k and v as one.
Family gpt2_family() {
  return with_classifier<maybe_bidirectional<plain_gpt2>, TokenClassifier::classifier>();
}

}  // namespace heed::model
