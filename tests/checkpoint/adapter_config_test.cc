// Every field of adapter_config.json is applied, ignored because it changes nothing, or refused.
#include "heed/checkpoint/adapter_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;

/// The golden adapter of q_proj, v_proj (rank 3) and down_proj (rank 2) with another
/// adapter_config.json.
class AdapterFields : public testing::Test {
 protected:
  AdapterFields() {
    const std::filesystem::path golden = golden_folder("adapters") / "llama";
    std::filesystem::copy_file(golden / "adapter_model.safetensors",
                               folder_ / "adapter_model.safetensors");
    original_ = Json::parse(read_file(golden / "adapter_config.json"));
  }

  void change(const Json& changes) {
    Json config = original_;
    config.update(changes);
    write_file_atomically(folder_ / "adapter_config.json", config.dump());
  }
  AdapterConfig read(const Json& changes) {
    change(changes);
    return read_adapter_config(folder_.path());
  }
  std::string error_of(const Json& changes) {
    try {
      read(changes);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  LoadedAdapter load(const Json& changes) {
    change(changes);
    return load_adapter(folder_.path(), *model_);
  }
  /// Names of the modules with matrices.
  std::vector<std::string> modules(const Json& changes) {
    const LoadedAdapter loaded = load(changes);
    std::vector<std::string> names;
    for (const auto& module : loaded.lora->modules()) names.push_back(module.linear.name);
    return names;
  }

  const TemporaryDirectory folder_;
  Json original_;
  std::unique_ptr<model::Transformer> model_ = load_model(golden_folder("families") / "llama3");
};

TEST_F(AdapterFields, RefuseInitialisationsThatChangeTheBaseModel) {
  for (const char* const kind :
       {"pissa", "pissa_niter_4", "olora", "OLoRA", "corda", "loftq", "lora_ga", "something_new"}) {
    const std::string error = error_of({{"init_lora_weights", kind}});
    EXPECT_NE(error.find(std::string("adapter_config.json: init_lora_weights is \"") + kind + "\""),
              error.npos)
        << error;
  }
  for (const Json& kind : {Json(true), Json(false), Json(nullptr), Json("gaussian"), Json("eva"),
                           Json("orthogonal"), Json("mica")})
    EXPECT_TRUE(read({{"init_lora_weights", kind}}).warnings.empty()) << kind;
}

TEST_F(AdapterFields, RefuseVariantsOfLora) {
  const Json variants{{"use_dora", true},
                      {"lora_bias", true},
                      {"modules_to_save", {"lm_head"}},
                      {"layer_replication", {{0, 1}}},
                      {"use_qalora", true},
                      {"target_parameters", {"experts.w1"}},
                      {"alora_invocation_tokens", {1}},
                      {"trainable_token_indices", {1}},
                      {"ensure_weight_tying", true},
                      {"arrow_config", Json::object()},
                      {"use_bdlora", Json::object()},
                      {"kasa_config", Json::object()},
                      {"velora_config", Json::object()},
                      {"monteclora_config", Json::object()}};
  for (const auto& [key, value] : variants.items()) {
    const std::string error = error_of({{key, value}});
    EXPECT_NE(error.find("adapter_config.json: " + key + " is "), error.npos) << error;
    EXPECT_EQ(error_of({{key, nullptr}}), "none");
  }
}

TEST_F(AdapterFields, AreIgnoredWhereTheyChangeNothing) {
  EXPECT_TRUE(read({{"fan_in_fan_out", true},
                    {"loftq_config", {{"loftq_bits", 4}}},
                    {"eva_config", Json::object()},
                    {"megatron_core", "megatron.core"},
                    {"peft_version", "99"},
                    {"task_type", "CAUSAL_LM"}})
                  .warnings.empty());
}

TEST_F(AdapterFields, AreNamedInAWarningWherePeftDoesNotKnowThem) {
  const auto warnings = load({{"use_next_year", true}}).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            (folder_ / "adapter_config.json").string() +
                ": use_next_year is true and is ignored: it is no field of PEFT's LoRA");
}

TEST_F(AdapterFields, SelectTheModulesThatPeftAdapts) {
  const auto all = modules(Json::object());
  EXPECT_EQ(all.size(), 6u);
  const auto layer = [&](int64_t number) {
    std::vector<std::string> some;
    for (const std::string& name : all)
      if (name.find("layers." + std::to_string(number) + ".") != name.npos) some.push_back(name);
    return some;
  };
  EXPECT_EQ(modules({{"layers_to_transform", {1}}}), layer(1));
  EXPECT_EQ(modules({{"layers_to_transform", 0}, {"layers_pattern", "layers"}}), layer(0));
  EXPECT_EQ(modules({{"target_modules", nullptr}}), all);
  EXPECT_EQ(modules({{"target_modules", "all-linear"}}), all);
  EXPECT_EQ(modules({{"target_modules", {"self_attn.q_proj", "v_proj", "mlp.down_proj"}}}), all);
  EXPECT_EQ(modules({{"target_modules", ".*layers\\.0\\..*"}}), layer(0));
  EXPECT_EQ(modules({{"exclude_modules", ".*layers\\.0.*"}}), layer(1));
  EXPECT_EQ(modules({{"exclude_modules", {"q_proj", "v_proj"}}}).size(), 2u);
  const auto warnings = load({{"target_modules", {"q_proj", "v_proj"}}}).warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("model.layers.0.mlp.down_proj are ignored"), std::string::npos);
}

TEST_F(AdapterFields, MustAgreeWithTheMatricesOnTheirRank) {
  const auto with = [](const char* json) { return Json::parse(json); };
  EXPECT_EQ(modules(with(R"({"rank_pattern": {"layers\\..\\.mlp\\.down_proj": 2}})")).size(), 6u);
  for (const char* const changes : {R"({"rank_pattern": null})", R"({"r": 4})"})
    expect_error([&] { load(with(changes)); },
                 "by r and rank_pattern of adapter_config.json its rank is");
  for (const char* const changes :
       {R"({"rank_pattern": {"q_proj": 0.5}})", R"({"rank_pattern": {"q_proj": 0}})"})
    expect_error([&] { read(with(changes)); }, "adapter_config.json: rank_pattern has 0");
}

}  // namespace
}  // namespace heed::checkpoint
