#include "heed/model/families/phi3.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/fused_weights.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

ModelConfig read_phi3(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_windowed_llama(with_defaults(json, {{"rms_norm_eps", 1e-5}}), file);
  using enum nn::RotaryScaling::Kind;
  const nn::RotaryScaling::Kind kind = c.rotary_scaling.kind;
  require(kind == none || kind == longrope, "{}: rope_type is {}, expected default or longrope",
          file, name_of(kind));
  read_rotary_dim(json, file, 1.0, c);
  c.dropout = read_rate(json, "resid_pdrop", file);
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

}  // namespace

Family phi3_family() {
  return {.model_type = "phi3",
          .read_config = read_phi3,
          .write_config = write_phi3,
          .stored = phi3_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model
