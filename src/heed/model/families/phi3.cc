#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/llama.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"
#include "heed/model/stored_weight.h"

namespace heed::model {
namespace {

using io::GgufType;

/// The original longest sequence stands beside the scaling, whatever that says. Its first names for
/// its one kind of scaling are "su" and "yarn".
void set_phi3_rotary(ConfigReader& json) {
  json.set_defaults({{"original_max_position_embeddings", 4096}});
  json.understand({"original_max_position_embeddings"});
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    nlohmann::json block = json.value(key);
    if (!block.is_object()) continue;
    const nlohmann::json kind = block.value("rope_type", block.value("type", nlohmann::json()));
    if (kind == "yarn") block["rope_type"] = "longrope";
    json.set(key, block);
  }
}

ModelConfig read_phi3(ConfigReader& json) {
  json.set_defaults({{"rms_norm_eps", 1e-5},
                     {"max_position_embeddings", 4096},
                     {"pad_token_id", 32000},
                     {"eos_token_id", 32000}});
  for (const char* key : {"attention_bias", "mlp_bias", "lm_head_bias"}) json.expect(key, false);
  for (const char* key : {"full_attn_mod", "interpolate_factor"}) json.expect(key, 1);
  set_phi3_rotary(json);
  ModelConfig c = read_windowed_llama(json, {.fraction = "partial_rotary_factor"});
  using enum nn::RotaryScaling::Kind;
  const nn::RotaryScaling::Kind kind = c.rotary_scaling.kind;
  require(kind == none || kind == longrope, "{}: rope_type is {}, expected default or longrope",
          json.file(), name_of(kind));
  c.dropout = read_rate(json, "resid_pdrop");
  return c;
}

nlohmann::json write_phi3(const ModelConfig& c) {
  nlohmann::json json = write_windowed_llama(c, "phi3", "Phi3ForCausalLM");
  json["partial_rotary_factor"] = json["rope_parameters"]["partial_rotary_factor"] =
      partial_rotary_factor(c.rotary_dim, c.head_dim);
  json["resid_pdrop"] = json["embd_pdrop"] = c.dropout;
  return json;
}

StoredWeight phi3_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  const int64_t q = c.n_heads * c.head_dim, k = c.n_kv_heads * c.head_dim;
  const int64_t v = c.n_kv_heads * c.v_head_dim;
  return fused(llama_weight(c, name, shape), {{".q_proj.", ".qkv_proj.", 0, q + k + v},
                                              {".k_proj.", ".qkv_proj.", q, q + k + v},
                                              {".v_proj.", ".qkv_proj.", q + k, q + k + v},
                                              {".gate_proj.", ".gate_up_proj.", 0, 2 * c.d_ff},
                                              {".up_proj.", ".gate_up_proj.", c.d_ff, 2 * c.d_ff}});
}

constexpr MetadataField kGgufPhi3[] = {
    optional("rope.scaling.original_context_length", "original_max_position_embeddings",
             GgufType::u32),
    with_default("attention.sliding_window", "sliding_window", GgufType::u32, 0)};

void read_gguf_phi3(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_llama(metadata, config);
  const auto heads = config["num_attention_heads"].get<int64_t>();
  const auto columns = config["hidden_size"].get<int64_t>() / std::max<int64_t>(heads, 1);
  const auto rotated = metadata.get_or("rope.dimension_count", columns);
  config["partial_rotary_factor"] = partial_rotary_factor(rotated, columns);
  if (config["sliding_window"] == 0) config["sliding_window"] = nullptr;
}

/// 0 tells llama.cpp that there is no window.
void write_gguf_phi3(const ModelConfig& c, ArchitectureValues& metadata) {
  if (c.windows.empty()) metadata.set("attention.sliding_window", uint32_t{0});
}

Family plain_phi3() {
  return like_llama("phi3", read_phi3, write_phi3, phi3_weight,
                    {.architectures = {"phi3"},
                     .fields = {kGgufLlama, kGgufPhi3},
                     .read = read_gguf_phi3,
                     .write = write_gguf_phi3,
                     .stored = gguf_fused_decoder_weight});
}

}  // namespace

/// Phi-3 and Phi-4-mini (Microsoft, 2024): Llama with fused projections, of which a part of each
/// head may be rotated.
Family phi3_family() { return with_classifier<maybe_bidirectional<plain_phi3>>(); }

}  // namespace heed::model
