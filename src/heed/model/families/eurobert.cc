#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/known.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

constexpr std::string_view kEurobertStem = "EuroBert";
constexpr std::string_view kEurobertPrefix = "model.";

/// Files of before transformers 5 call the pooling "clf_pooling".
void read_eurobert_classifier(ConfigReader& json, ModelConfig& c) {
  json.take_alias("clf_pooling", "classifier_pooling");
  const auto pooling = json.get_or<std::string>("classifier_pooling", "late");
  require(pooling == "bos" || pooling == "mean" || pooling == "late",
          "{}: classifier_pooling is {}, expected \"bos\", \"mean\" or \"late\"", json.file(),
          quoted(pooling));
  if (!c.classifier.transform) return;
  c.classifier.activation = kernels::Activation::gelu;
  c.classifier.pooling = pooling == "bos"    ? ClassifierConfig::Pooling::first
                         : pooling == "mean" ? ClassifierConfig::Pooling::mean
                                             : ClassifierConfig::Pooling::late;
}

ModelConfig read_eurobert(ConfigReader& json) {
  json.set_defaults({{"max_position_embeddings", 8192},
                     {"rms_norm_eps", 1e-5},
                     {"pad_token_id", 128001},
                     {"bos_token_id", 128000},
                     {"eos_token_id", 128001}});
  // Tokens by their text, which the tokenizer's files name.
  json.understand({"bos_token", "eos_token", "mask_token", "pad_token"});
  ModelConfig c = swapped_stacks(read_biased_llama(json));
  read_encoder_head(json, kEurobertStem, c);
  c.head_bias = c.has_head && c.ff_bias;
  read_eurobert_classifier(json, c);
  return c;
}

nlohmann::json write_eurobert(const ModelConfig& c) {
  nlohmann::json json = write_biased_llama(swapped_stacks(c), "eurobert", "");
  write_encoder_head(c, kEurobertStem, json);
  if (c.classifier.transform)
    json["classifier_pooling"] = c.classifier.pooling == ClassifierConfig::Pooling::first
                                     ? "bos"
                                     : name_of(c.classifier.pooling);
  return json;
}

StoredWeight eurobert_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  StoredWeight weight =
      llama_weight(c, renamed(name, {{"model.encoder.", "model.decoder."}}), shape);
  weight.name = renamed(std::move(weight.name), {{"final_logits_bias", "lm_head.bias"},
                                                 {"classifier.dense.", "dense."},
                                                 {"classifier.out_proj.", "classifier."}});
  if (is_bare_encoder(c)) weight.name.erase(0, kEurobertPrefix.size());
  return weight;
}

}  // namespace

/// EuroBERT (Boizard et al. 2025): Llama as an encoder.
Family eurobert_family() {
  return {.model_type = "eurobert",
          .read = read_eurobert,
          .write_config = write_eurobert,
          .stored = eurobert_weight,
          .prefix = kEurobertPrefix,
          .redundant = [](std::string_view) { return false; }};
}

}  // namespace heed::model
