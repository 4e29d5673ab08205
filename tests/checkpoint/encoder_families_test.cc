// Reading and writing configurations of encoder and encoder-decoder families.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

struct Refusal {
  const char* golden;
  const char* key;
  nlohmann::json value;
  const char* message;
};

TEST(EncoderFamilies, ReportUnsupportedVariantsByFileKeyFoundAndExpected) {
  const std::vector<Refusal> refusals{
      {"bert", "position_embedding_type", "relative_key",
       "f: position_embedding_type is \"relative_key\", expected \"absolute\""},
      {"bert", "is_decoder", true, "f: is_decoder is true, expected false"},
      {"bert",
       "architectures",
       {"BertForQuestionAnswering"},
       "f: architectures is \"BertForQuestionAnswering\", expected \"Bert\" with Model, "
       "ForMaskedLM, "
       "ForSequenceClassification or ForTokenClassification"},
      {"bert", "architectures", 3, "f: architectures is 3, expected a list of names"},
      {"bert", "hidden_size", "wide", "f: hidden_size is \"wide\", expected an integer"},
      {"roberta", "hidden_act", "relu",
       "f: hidden_act is \"relu\", expected \"gelu\", which the head has"},
      {"roberta", "max_position_embeddings", 2,
       "f: max_position_embeddings is 2, expected more than pad_token_id + 1, which is 2"},
      {"mpnet", "relative_attention_num_buckets", 64,
       "f: relative_attention_num_buckets is 64, expected 32"},
      {"modernbert", "classifier_activation", "relu",
       "f: classifier_activation is \"relu\", expected that of hidden_activation, \"gelu\""},
      {"nomic-bert", "rotary_emb_fraction", 0.5, "f: rotary_emb_fraction is 0.5, expected 1.0"},
      {"nomic-bert", "moe_every_n_layers", 2, "f: moe_every_n_layers is 2, expected 0"},
      {"nomic-bert-moe", "expert_choice_router", true,
       "f: expert_choice_router is true, expected false"},
      {"electra", "hidden_act", "relu",
       "f: hidden_act is \"relu\", expected \"gelu\", which the head has"},
      {"albert", "inner_group_num", 2, "f: inner_group_num is 2, expected 1"},
      {"eurobert-sequence", "classifier_pooling", "max",
       "f: classifier_pooling is \"max\", expected \"bos\", \"mean\" or \"late\""},
      {"deberta-v2", "conv_kernel_size", 3, "f: conv_kernel_size is 3, expected 0"},
      {"deberta-v2", "legacy", false, "f: legacy is false, expected true"},
      {"deberta-v2", "embedding_size", 8, "f: embedding_size is 8, expected hidden_size, 16"},
      {"deberta-v2", "relative_attention", false,
       "f: relative_attention and pos_att_type are false and [\"p2c\",\"c2p\"], expected true "
       "and "},
      {"gte", "position_embedding_type", "absolute",
       "f: position_embedding_type is \"absolute\", expected \"rope\""},
      {"gte", "hidden_act", "silu",
       "f: hidden_act is \"silu\", expected \"gelu\", which the head has"},
      {"gte-new", "logn_attention_scale", true, "f: logn_attention_scale is true, expected false"},
      {"gte-new",
       "rope_scaling",
       {{"type", "ntk"}, {"factor", 2.0}, {"mixed_b", 0.6}},
       "f: mixed_b of rope_scaling is 0.6, expected null"},
      {"jina-bert", "feed_forward_type", "original",
       "f: feed_forward_type is \"original\", expected \"geglu\" or \"reglu\""},
      {"llama2",
       "rope_scaling",
       {{"type", "ntk"}, {"factor", 2.0}},
       "f: rope_type \"ntk\" is not known, expected one of none, linear, llama3, yarn, dynamic, "
       "longrope"},
      {"nomic-bert", "activation_function", "gelu",
       "f: activation_function is \"gelu\", expected that of hidden_act, \"silu\""},
      {"bart", "normalize_before", true, "f: normalize_before is true, expected false"},
      {"bart", "tie_word_embeddings", false, "f: tie_word_embeddings is false, expected true"}};
  for (const auto& [golden, key, value, message] : refusals) {
    const auto path = golden_folder("families") / golden / "config.json";
    nlohmann::json json = parse_json(read_file(path), "f");
    json[key] = value;
    try {
      model::family_of_type(json["model_type"].get<std::string>(), "f").read_config(json, "f");
      ADD_FAILURE() << key << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, std::string(message).size()), message);
    }
  }
}

/// Fields that differ from the paper's, set as in a new configuration.
model::ModelConfig from_scratch(const std::string& family) {
  model::ModelConfig c;
  c.family = family;
  c.vocab_size = 100;
  c.d_model = 16;
  c.n_heads = 2;
  c.d_ff = 24;
  c.scale_embedding = false;
  if (family == "t5") {
    c.activation = kernels::Activation::gelu_tanh;
    c.gated = true;
    c.norm = nn::NormKind::rms;
    c.norm_placement = nn::NormPlacement::pre;
    c.attention_scale = 1.0f;
    c.qkv_bias = c.o_bias = c.ff_bias = c.head_bias = c.tied_head = false;
    c.positions = model::PositionKind::relative;
  } else {
    c.positions = model::PositionKind::learned;
    c.embedding_norm = true;
    c.activation = kernels::Activation::gelu;
  }
  const bool roberta = family.ends_with("roberta");
  if (family == "bart" || roberta) c.first_position = family == "bart" ? 2 : 1;
  c.skips_padding = roberta;
  if (family.ends_with("bert") || roberta) {
    c.decoder_layers = 0;
    c.head_transform = true;
    c.norm_epsilon = 1e-12f;
    c.type_vocab_size = family == "distilbert" ? 0 : 2;
  }
  c.validate();
  return c;
}

TEST(EncoderFamilies, WriteANewConfigurationWithTheirFamilysKeys) {
  for (const char* type : {"bert", "distilbert", "roberta", "xlm-roberta", "bart", "t5"}) {
    model::ModelConfig config = from_scratch(type);
    EXPECT_EQ(model::family_for(config).model_type, type);
    config.family.clear();
    EXPECT_NE(model::family_for(config).model_type, "heed") << type;
    config.family = type;
    config.qk_norm = true;
    EXPECT_THROW(model::family_for(config), Error) << type;
  }
}

TEST(EncoderFamilies, AGteMayHaveAnotherScaling) {
  const auto path = golden_folder("families") / "gte" / "config.json";
  nlohmann::json json = parse_json(read_file(path), "f");
  json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(model::family_of_type("gte", "f").read_config(json, "f").rotary_scaling.kind,
            nn::RotaryScaling::Kind::linear);
}

TEST(EncoderFamilies, ANomicBertMayHaveOnlyTheNamesOfGpt2) {
  const auto folder = golden_folder("families") / "nomic-bert";
  nlohmann::json json = parse_json(read_file(folder / "config.old.json"), "f");
  for (const char* name :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "max_position_embeddings", "layer_norm_eps", "hidden_act", "rope_theta", "rope_scaling"})
    EXPECT_EQ(json.erase(name), 1) << name;
  model::ModelConfig config = model::family_of_type("nomic_bert", "f").read_config(json, "f");
  config.validate();
  EXPECT_EQ(config, config_of(folder / "config.json"));
}

TEST(EncoderFamilies, AT5WithATiedHeadScalesItsStates) {
  const auto path = golden_folder("families") / "t5" / "config.json";
  nlohmann::json json = parse_json(read_file(path), "f");
  json.erase("scale_decoder_outputs");  // as before transformers 5
  const model::Family& t5 = model::family_of_type("t5", "f");
  EXPECT_EQ(t5.read_config(json, "f").head_scale, 0.25f);
  EXPECT_TRUE(t5.read_config(json, "f").tied_head);
  json["tie_word_embeddings"] = false;
  EXPECT_EQ(t5.read_config(json, "f").head_scale, 1.0f);
  EXPECT_FALSE(t5.read_config(json, "f").tied_head);
}

}  // namespace
}  // namespace heed::checkpoint
