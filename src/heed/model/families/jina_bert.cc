#include "heed/model/families/jina_bert.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/model/families/bert.h"

namespace heed::model {
namespace {

constexpr std::string_view kJinaStem = "JinaBert";
constexpr const char* kPositions = "position_embedding_type";
constexpr const char* kNetwork = "feed_forward_type";

}  // namespace

bool describes_jina_bert(ConfigReader& json) { return json.value(kPositions) == "alibi"; }

bool is_jina_bert(const ModelConfig& config) { return config.positions == PositionKind::alibi; }

ModelConfig read_jina_bert(ConfigReader& json) {
  json.set(kPositions, "absolute");
  // How texts are pooled, which modules.json says, and what the tokenizer's files say.
  json.understand({"emb_pooler", "model_max_length"});
  const auto network = json.get_or<std::string>(kNetwork, "original");
  require(network == "geglu" || network == "reglu", "{}: {} is {}, expected \"geglu\" or \"reglu\"",
          json.file(), kNetwork, quoted(network));
  ModelConfig c = read_bert(json, kJinaStem);
  c.positions = PositionKind::alibi;
  c.gated = true;
  c.ff_up_bias = false;
  // The head has the activation of "hidden_act".
  const auto gate = network == "geglu" ? kernels::Activation::gelu : kernels::Activation::relu;
  require(c.activation == gate || !c.has_head,
          "{}: hidden_act is \"{}\", expected that of {} beside a head, \"{}\"", json.file(),
          name_of(c.activation), kNetwork, name_of(gate));
  c.activation = gate;
  return c;
}

nlohmann::json write_jina_bert(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "bert", kJinaStem);
  json[kPositions] = "alibi";
  json[kNetwork] = c.activation == kernels::Activation::gelu ? "geglu" : "reglu";
  return json;
}

StoredWeight jina_bert_weight(const ModelConfig& c, StoredWeight weight) {
  weight.name = renamed(std::move(weight.name),
                        {{".output.LayerNorm.", ".mlp.layernorm."},
                         {".attention.mlp.layernorm.", ".attention.output.LayerNorm."},
                         {".down_proj.", ".mlp.wo."}});
  return fused(std::move(weight), {{".gate_proj.", ".mlp.gated_layers.", 0, 2 * c.d_ff},
                                   {".up_proj.", ".mlp.gated_layers.", c.d_ff, 2 * c.d_ff}});
}

}  // namespace heed::model
