#include "heed/model/families/roberta.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

constexpr std::string_view kRobertaStem = "Roberta", kXlmRobertaStem = "XLMRoberta";
constexpr std::string_view kRobertaPrefix = "roberta.";

StoredWeight roberta_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  return {.name = roberta_name(config, name, kRobertaPrefix),
          .shape = shape,
          .preferred = roberta_own_bias(name)};
}

/// The first positions, which the file lacks, are those up to the padding token's.
template <const std::string_view& stem>
void read_gguf_roberta(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_bert(metadata, stem, config);
  if (config["pad_token_id"].is_null()) config["pad_token_id"] = 1;
  const auto padding = config["pad_token_id"].get<int64_t>();
  const auto length = config["max_position_embeddings"].get<int64_t>();
  constexpr int64_t kMost = int64_t{1} << 31;
  require(padding >= 0 && padding < kMost && length > 0 && length < kMost,
          "{}: context_length is {} and the padding token {}, expected fewer than {}",
          metadata.file().name(), length, padding, kMost);
  config["max_position_embeddings"] = length + padding + 1;
}

/// BERT, RoBERTa and XLM-RoBERTa have one architecture; their tokenizers tell them apart.
std::string tokenizer_kind(const ArchitectureMetadata& metadata) {
  return metadata.file().metadata().get_or<std::string>("tokenizer.ggml.model", "bert");
}

template <const std::string_view& stem>
Family family(std::string_view type, nlohmann::json (*write_config)(const ModelConfig&),
              bool (*holds)(const ArchitectureMetadata&)) {
  return {.model_type = type,
          .read = [](ConfigReader& json) { return read_roberta(json, stem); },
          .write_config = write_config,
          .stored = roberta_weight,
          .prefix = kRobertaPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_bert,
          .gguf = {.architectures = {"bert"},
                   .holds = holds,
                   .fields = {kGgufBert},
                   .read = read_gguf_roberta<stem>,
                   .write = write_gguf_bert,
                   .stored = gguf_encoder_weight}};
}

}  // namespace

ModelConfig read_roberta(ConfigReader& json, std::string_view stem) {
  json.set_defaults({{"pad_token_id", 1}, {"bos_token_id", 0}, {"eos_token_id", 2}});
  ModelConfig c = read_bert(json, stem);
  require(!c.has_head || c.activation == kernels::Activation::gelu,
          "{}: hidden_act is \"{}\", expected \"gelu\", which the head has", json.file(),
          name_of(c.activation));
  c.pad_id = json.get_or<int32_t>("pad_token_id", 1);
  c.first_position = int64_t{c.pad_id} + 1;
  c.skips_padding = true;
  require(c.max_positions > c.first_position,
          "{}: max_position_embeddings is {}, expected more than pad_token_id + 1, which is {}",
          json.file(), c.max_positions, c.first_position);
  c.max_positions -= c.first_position;
  return c;
}

nlohmann::json write_roberta(const ModelConfig& c, std::string_view type, std::string_view stem) {
  nlohmann::json json = write_bert(c, type, stem);
  json["max_position_embeddings"] = c.first_position + c.max_positions;
  return json;
}

std::string roberta_name(const ModelConfig& config, const std::string& name,
                         std::string_view prefix) {
  std::string own = renamed(
      bert_name(config, name, prefix),
      {{"lm_head.weight", "lm_head.decoder.weight"}, {"final_logits_bias", "lm_head.bias"}});
  if (config.classifier.kind == ClassifierConfig::Kind::token)
    return renamed(std::move(own), {{"classifier.out_proj.", "classifier."}});
  return own;
}

std::string roberta_own_bias(const std::string& name) {
  return name == "final_logits_bias" ? "lm_head.decoder.bias" : "";
}

/// RoBERTa (Liu et al. 2019): BERT, but positions begin after pad_token_id, and the head always
/// uses GELU.
Family roberta_family() {
  return family<kRobertaStem>(
      "roberta", [](const ModelConfig& c) { return write_roberta(c, "roberta", kRobertaStem); },
      [](const ArchitectureMetadata& metadata) { return tokenizer_kind(metadata) == "gpt2"; });
}

/// XLM-RoBERTa (Conneau et al. 2019): RoBERTa by another name.
Family xlm_roberta_family() {
  return family<kXlmRobertaStem>(
      "xlm-roberta",
      [](const ModelConfig& c) { return write_roberta(c, "xlm-roberta", kXlmRobertaStem); },
      [](const ArchitectureMetadata& metadata) { return tokenizer_kind(metadata) == "t5"; });
}

}  // namespace heed::model
