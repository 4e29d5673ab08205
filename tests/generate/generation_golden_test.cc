// Outputs with the settings of generation_config.json against transformers:
// tests/golden/generation/make.py made the expected ones.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/generate/generation_config.h"
#include "heed/generate/generator.h"
#include "tests/base/testing.h"
#include "tests/generate/golden_continuations.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

constexpr int64_t kNewTokens = 12;

/// What the library makes of a model's files (engine/loaded_model.cc).
GeneratorOptions options_of(const Json& settings, const model::ModelConfig& config) {
  const TemporaryDirectory folder;
  write_quickly(folder / "generation_config.json", settings.dump());
  GeneratorOptions options;
  options.rules = read_generation_config(folder.path(), config).rules;
  options.sampling.repetition_penalty = options.rules.repetition_penalty;
  options.max_new_tokens = kNewTokens;
  return options;
}

class GenerationSettings : public testing::TestWithParam<std::string> {
 protected:
  /// Calls `check(case, generator, prompts)` for each case of the model.
  template <typename Check>
  void for_each_case(const Check& check) const {
    const auto file =
        std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/generation/expected.json";
    GoldenContinuations golden = golden_continuations(GetParam());
    golden.prompts.resize(3);
    const auto model = checkpoint::load_model(golden.model);
    for (const Json& one : parse_json(read_file(file), file.string())) {
      if (one["model"] != GetParam()) continue;
      SCOPED_TRACE(one["name"].get<std::string>());
      const Generator generator(*model, {}, options_of(one["settings"], model->config()));
      check(one, generator, golden.prompts);
    }
  }
};

TEST_P(GenerationSettings, GiveTheGreedyOutputsOfTransformers) {
  for_each_case([](const Json& one, const Generator& generator, const auto& prompts) {
    if (one.contains("num_beams")) return;
    const auto found = generator.generate(prompts);
    const auto searched = generator.search(prompts, {});
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(Json(found[i].tokens), one["outputs"][i][0]["tokens"]) << "prompt " << i;
      EXPECT_EQ(Json(searched[i][0].tokens), one["outputs"][i][0]["tokens"]) << "prompt " << i;
    }
  });
}

TEST_P(GenerationSettings, GiveTheBeamsOfTransformers) {
  for_each_case([](const Json& one, const Generator& generator, const auto& prompts) {
    if (!one.contains("num_beams")) return;
    const SearchOptions options{.num_beams = one["num_beams"],
                                .n_best = one["num_return_sequences"],
                                .length_penalty = one["length_penalty"]};
    const auto found = generator.search(prompts, options);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const Json& expected = one["outputs"][i];
      ASSERT_EQ(found[i].size(), expected.size());
      for (size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(Json(found[i][k].tokens), expected[k]["tokens"])
            << "prompt " << i << ", output " << k << ", penalty " << options.length_penalty;
        EXPECT_NEAR(found[i][k].score, expected[k]["score"].get<double>(), 1e-4)
            << "prompt " << i << ", output " << k;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Models, GenerationSettings,
                         testing::Values("bart", "t5", "gpt2", "llama3"), test_name_of);

}  // namespace
}  // namespace heed::generate
