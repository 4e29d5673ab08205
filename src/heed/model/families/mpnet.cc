#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/roberta.h"

namespace heed::model {
namespace {

constexpr std::string_view kMpnetStem = "MPNet";
constexpr std::string_view kMpnetPrefix = "mpnet.";
// The reference has both built in, whatever its files say.
constexpr int64_t kMpnetBuckets = 32, kMpnetPad = 1;

ModelConfig read_mpnet(ConfigReader& json) {
  json.expect("relative_attention_num_buckets", kMpnetBuckets);
  json.expect("pad_token_id", kMpnetPad);
  json.set("type_vocab_size", 0);
  ModelConfig c = read_roberta(json, kMpnetStem);
  c.relative_attention_bias = true;
  c.relative_num_buckets = kMpnetBuckets;
  return c;
}

nlohmann::json write_mpnet(const ModelConfig& c) {
  nlohmann::json json = write_roberta(c, "mpnet", kMpnetStem);
  json.erase("type_vocab_size");
  json["relative_attention_num_buckets"] = c.relative_num_buckets;
  return json;
}

StoredWeight mpnet_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  return {.name = renamed(roberta_name(config, name, kMpnetPrefix),
                          {{".attention.self.query.", ".attention.attn.q."},
                           {".attention.self.key.", ".attention.attn.k."},
                           {".attention.self.value.", ".attention.attn.v."},
                           {".attention.output.dense.", ".attention.attn.o."},
                           {".attention.output.LayerNorm.", ".attention.LayerNorm."}}),
          .shape = shape,
          .preferred = roberta_own_bias(name)};
}

}  // namespace

/// MPNet (Song et al. 2020): RoBERTa without segments, and with relative biases besides the learned
/// positions.
Family mpnet_family() {
  return {.model_type = "mpnet",
          .read = read_mpnet,
          .write_config = write_mpnet,
          .stored = mpnet_weight,
          .prefix = kMpnetPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_bert};
}

}  // namespace heed::model
