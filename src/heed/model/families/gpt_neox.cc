#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

ModelConfig read_gpt_neox(ConfigReader& json) {
  json.set_defaults({{"hidden_act", "gelu"}, {"bos_token_id", 0}, {"eos_token_id", 2}});
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("hidden_size");
  c.encoder_layers = 0;
  c.decoder_layers = json.get<int64_t>("num_hidden_layers");
  c.n_heads = json.get<int64_t>("num_attention_heads");
  c.d_ff = json.get<int64_t>("intermediate_size");
  if (c.n_heads > 0) json.expect("head_dim", c.d_model / c.n_heads);  // of the rotated part alone
  c.activation = read_activation(json, "hidden_act");
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon = static_cast<float>(json.get_or("layer_norm_eps", double{kLayerNormEpsilon}));
  c.parallel_residual = json.get_or("use_parallel_residual", true);
  c.qkv_bias = c.o_bias = json.get_or("attention_bias", true);
  c.max_positions = json.get_or<int64_t>("max_position_embeddings", 2048);
  read_rotary(json,
              {.theta = "rotary_emb_base", .fraction = "rotary_pct", .default_fraction = 0.25}, c);
  c.scale_embedding = false;
  c.tied_head = json.get_or("tie_word_embeddings", false);
  c.head_bias = false;
  c.dropout = read_rate(json, "hidden_dropout");
  c.attention_dropout = read_rate(json, "attention_dropout");
  read_decoder_tokens(json, c);
  return c;
}

nlohmann::json write_gpt_neox(const ModelConfig& c) {
  nlohmann::json json = {{"architectures", {"GPTNeoXForCausalLM"}},
                         {"model_type", "gpt_neox"},
                         {"vocab_size", c.vocab_size},
                         {"hidden_size", c.d_model},
                         {"num_hidden_layers", c.decoder_layers},
                         {"num_attention_heads", c.n_heads},
                         {"intermediate_size", c.d_ff},
                         {"hidden_act", name_of(c.activation)},
                         {"layer_norm_eps", c.norm_epsilon},
                         {"use_parallel_residual", c.parallel_residual},
                         {"attention_bias", c.qkv_bias},
                         {"max_position_embeddings", c.max_positions},
                         {"tie_word_embeddings", c.tied_head},
                         {"hidden_dropout", c.dropout},
                         {"attention_dropout", c.attention_dropout},
                         {"torch_dtype", "float32"}};
  write_decoder_tokens(c, json);
  write_rotary(c, json);
  json.erase("rope_theta");
  json["rotary_emb_base"] = c.rotary_theta;
  json["rotary_pct"] = json["rope_parameters"]["partial_rotary_factor"] =
      partial_rotary_factor(c.rotary_dim, c.head_dim);
  return json;
}

StoredWeight gpt_neox_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  StoredWeight weight{
      .name = renamed(name, {{"model.shared.", "gpt_neox.embed_in."},
                             {"lm_head.", "embed_out."},
                             {"model.decoder.layers.", "gpt_neox.layers."},
                             {".self_attn_layer_norm.", ".input_layernorm."},
                             {".final_layer_norm.", ".post_attention_layernorm."},
                             {"model.decoder.layer_norm.", "gpt_neox.final_layer_norm."},
                             {".self_attn.o_proj.", ".attention.dense."},
                             {".fc1.", ".mlp.dense_h_to_4h."},
                             {".fc2.", ".mlp.dense_4h_to_h."}}),
      .shape = shape};
  // Each head has its query's rows, then its key's and its value's.
  int64_t place = 0;
  for (const std::string_view part :
       {".self_attn.q_proj.", ".self_attn.k_proj.", ".self_attn.v_proj."}) {
    if (name.find(part) != std::string::npos) {
      weight.name = renamed(weight.name, {{part, ".attention.query_key_value."}});
      weight.shape = shape.rank() == 2 ? Shape{3 * shape[0], shape[1]} : Shape{3 * shape[0]};
      weight.first_row = place * c.head_dim;
      weight.block_rows = c.head_dim;
      weight.block_stride = 3 * c.head_dim;
    }
    ++place;
  }
  return weight;
}

/// Causal masks and tables in older files.
bool redundant_in_gpt_neox(std::string_view name) {
  return name.ends_with(".attention.bias") || name.ends_with(".attention.masked_bias") ||
         name.ends_with(".rotary_emb.inv_freq");
}

/// The activation is not in the file; it is that of Pythia.
constexpr MetadataField kGgufGptNeox[] = {
    required("embedding_length", "hidden_size", GgufType::u32),
    required("attention.head_count", "num_attention_heads", GgufType::u32),
    required("feed_forward_length", "intermediate_size", GgufType::u32),
    required("attention.layer_norm_epsilon", "layer_norm_eps", GgufType::f32),
    with_default("use_parallel_residual", "use_parallel_residual", GgufType::boolean, true),
    required("context_length", "max_position_embeddings", GgufType::u32),
    with_default("rope.freq_base", "rotary_emb_base", GgufType::f32, 10000)};

void read_gguf_gpt_neox(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  const io::GgufFile& file = metadata.file();
  const auto heads = config["num_attention_heads"].get<int64_t>();
  const auto columns = config["hidden_size"].get<int64_t>() / std::max<int64_t>(heads, 1);
  const auto rotated = metadata.get_or("rope.dimension_count", columns);
  set_decoder_fields(metadata, config);
  config.update({{"num_hidden_layers", layers(metadata)},
                 {"hidden_act", "gelu"},
                 {"attention_bias", file.contains("blk.0.attn_qkv.bias")},
                 {"rope_scaling", rotary_scaling(metadata)},
                 {"rotary_pct", partial_rotary_factor(rotated, columns)}});
}

Family plain_gpt_neox() {
  return {.model_type = "gpt_neox",
          .read = read_gpt_neox,
          .write_config = write_gpt_neox,
          .stored = gpt_neox_weight,
          .prefix = "gpt_neox.",
          .redundant = redundant_in_gpt_neox,
          .gguf = {.architectures = {"gptneox"},
                   .fields = {kGgufGptNeox},
                   .read = read_gguf_gpt_neox,
                   .stored = gguf_fused_decoder_weight},
          .padded_embedding = false};
}

}  // namespace

/// GPT-NeoX and Pythia (Black et al. 2022): attention and feed-forward network read the same input;
/// a part of each head is rotated.
Family gpt_neox_family() {
  return with_classifier<maybe_bidirectional<plain_gpt_neox>, TokenClassifier::classifier>();
}

}  // namespace heed::model
