#include "heed/model/families/family.h"

#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bart.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/deepseek.h"
#include "heed/model/families/distilbert.h"
#include "heed/model/families/gemma.h"
#include "heed/model/families/gpt2.h"
#include "heed/model/families/gpt_neox.h"
#include "heed/model/families/gpt_oss.h"
#include "heed/model/families/granite.h"
#include "heed/model/families/heed.h"
#include "heed/model/families/llama.h"
#include "heed/model/families/marian.h"
#include "heed/model/families/mixtral.h"
#include "heed/model/families/modernbert.h"
#include "heed/model/families/mpnet.h"
#include "heed/model/families/nomic_bert.h"
#include "heed/model/families/olmo2.h"
#include "heed/model/families/phi3.h"
#include "heed/model/families/roberta.h"
#include "heed/model/families/smollm3.h"
#include "heed/model/families/t5.h"

namespace heed::model {

std::span<const Family> families() {
  using enum TokenClassifier;
  static const std::array all{marian_family(),
                              pegasus_family(),
                              with_classifier<llama_family>(),
                              with_classifier<mistral_family>(),
                              with_classifier<qwen2_family>(),
                              with_classifier<qwen3_family>(),
                              with_classifier<gpt2_family, classifier>(),
                              with_classifier<gemma2_family>(),
                              deepseek_v2_family(),
                              bart_family(),
                              t5_family(),
                              bert_family(),
                              distilbert_family(),
                              roberta_family(),
                              with_classifier<gemma_family>(),
                              gemma3_family(),
                              granite_family(),
                              olmo2_family(),
                              with_classifier<smollm3_family>(),
                              with_classifier<qwen3_moe_family>(),
                              with_classifier<mixtral_family>(),
                              with_classifier<phi3_family>(),
                              with_classifier<gpt_neox_family, classifier>(),
                              deepseek_v3_family(),
                              xlm_roberta_family(),
                              mpnet_family(),
                              modernbert_family(),
                              nomic_bert_family(),
                              gpt_oss_family(),
                              mbart_family(),
                              m2m_100_family(),
                              mt5_family(),
                              heed_family()};
  return all;
}

std::string Family::obstacle(const ModelConfig& config) const {
  ModelConfig again;
  try {
    again = read_config(write_config(config), "config.json");
    again.validate();
  } catch (const Error& error) {
    return error.what();
  }
  again.family = config.family;
  again.dropout = config.dropout;
  again.attention_dropout = config.attention_dropout;
  again.activation_dropout = config.activation_dropout;
  // Relative biases do not limit the length, so families that use them do not store it.
  // With rotary frequencies that depend on the length, they store the longest one possible.
  if (config.positions == PositionKind::relative || config.rotary_scaling.depends_on_context())
    again.max_positions = config.max_positions;
  const nlohmann::json expected = heed_family().write_config(config);
  const nlohmann::json read_back = heed_family().write_config(again);
  for (const auto& [name, value] : expected.items())
    if (value != read_back[name])
      return fmt::format("{} is {}, but would be read back as {}", name, dump_json(value),
                         dump_json(read_back[name]));
  return {};
}

const Family& family_of_type(std::string_view model_type, const std::string& file) {
  std::string known;
  for (const Family& family : families()) {
    if (family.model_type == model_type) return family;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_type);
  }
  fail("{}: model_type is {}, expected one of {}", file, quoted(model_type), known);
}

const Family& family_for(const ModelConfig& config) {
  if (!config.family.empty()) {
    const Family& family = family_of_type(config.family, "the configuration");
    const std::string obstacle = family.obstacle(config);
    require(obstacle.empty(), "the family {} cannot express this configuration: {}", config.family,
            obstacle);
    return family;
  }
  for (const Family& family : families())
    if (family.can_express(config)) return family;
  return families().back();
}

}  // namespace heed::model
