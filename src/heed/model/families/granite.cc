#include "heed/model/families/known.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/llama.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

/// A factor that is not zero; 1 where it is missing.
double read_factor(ConfigReader& json, const char* key) {
  const double factor = json.get_or(key, 1.0);
  require(factor > 0.0 && std::isfinite(factor), "{}: {} is {}, expected more than 0", json.file(),
          key, factor);
  return factor;
}

ModelConfig read_granite(ConfigReader& json) {
  ModelConfig c = read_biased_llama(json);
  c.embedding_multiplier = static_cast<float>(read_factor(json, "embedding_multiplier"));
  c.attention_scale = static_cast<float>(read_factor(json, "attention_multiplier"));
  c.residual_multiplier = static_cast<float>(read_factor(json, "residual_multiplier"));
  c.head_scale = static_cast<float>(1.0 / read_factor(json, "logits_scaling"));
  return c;
}

nlohmann::json write_granite(const ModelConfig& c) {
  nlohmann::json json = write_biased_llama(c, "granite", "GraniteForCausalLM");
  const double scale = c.attention_scale == 0.0f ? 1.0 / std::sqrt(static_cast<double>(c.head_dim))
                                                 : static_cast<double>(c.attention_scale);
  json.update({{"embedding_multiplier", c.embedding_multiplier},
               {"attention_multiplier", scale},
               {"residual_multiplier", c.residual_multiplier},
               {"logits_scaling", 1.0 / static_cast<double>(c.head_scale)}});
  return json;
}

constexpr MetadataField kGgufGranite[] = {
    required("attention.scale", "attention_multiplier", GgufType::f32),
    with_default("embedding_scale", "embedding_multiplier", GgufType::f32, 1),
    with_default("residual_scale", "residual_multiplier", GgufType::f32, 1),
    required("logit_scale", "logits_scaling", GgufType::f32)};

Family plain_granite() {
  return like_llama("granite", read_granite, write_granite, llama_weight,
                    {.architectures = {"granite"},
                     .fields = {kGgufLlama, kGgufGranite},
                     .read = read_gguf_llama,
                     .in_pairs = true});
}

}  // namespace

/// Granite 3 (IBM, 2024): Llama with factors of the embeddings, of the attention scores, of what
/// each sub-layer adds, and of the logits.
Family granite_family() { return maybe_bidirectional<plain_granite>(); }

}  // namespace heed::model
