// Fine-tuning M2M-100, NLLB and mBART with the tokens of their languages, against transformers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "heed/base/json.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/train/batch_loss.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

const std::filesystem::path kTranslators =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/translation";

/// A model and what transformers computes for it (losses.py).
class Multilingual : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const nlohmann::json all = parse_json(read_file(kTranslators / "losses.json"), "losses.json");
    expected_ = all["models"][GetParam()];
    std::ofstream source(folder_ / "source"), target(folder_ / "target");
    for (const auto& pair : all["pairs"]) {
      source << pair[0].get<std::string>() << '\n';
      target << pair[1].get<std::string>() << '\n';
    }
    for (auto& [side, file] :
         {std::pair{"source", &config_.data.source}, {"target", &config_.data.target}})
      *file = (folder_ / side).string();
    config_.data.valid_source = config_.data.source;
    config_.data.valid_target = config_.data.target;
    config_.data.source_language = expected_["source_language"];
    config_.data.target_language = expected_["target_language"];
    config_.from = (kTranslators / GetParam()).string();
    config_.run.compute = "f32";
    config_.run.max_steps = 2;
    config_.optimizer.warmup_steps = 0;
    config_.validation.eval_steps = 2;
    read_initial_config(config_);
  }

  TemporaryDirectory folder_;
  nlohmann::json expected_;
  TrainConfig config_;
};

TEST_P(Multilingual, ReadsTheTokensAndComputesTheLossOfTheReference) {
  const auto task = testing::task_of(config_, config_.from);
  std::vector<int64_t> all(static_cast<size_t>(task->train().count()));
  ASSERT_EQ(all.size(), expected_["tokens"].size());
  std::iota(all.begin(), all.end(), int64_t{0});
  for (const int64_t i : all) {
    const data::Batch one = task->train().batch({&i, 1}, 0);
    const nlohmann::json& tokens = expected_["tokens"][static_cast<size_t>(i)];
    EXPECT_EQ(one.source, tokens["source"].get<std::vector<int32_t>>());
    EXPECT_EQ(one.target, tokens["labels"].get<std::vector<int32_t>>());
  }
  model::Transformer model(task->model(), std::nullopt);
  checkpoint::load_stored_weights(model, config_.from);
  Context context{.dtype = DType::f32};
  const ops::Loss loss = batch_loss(model, context, task->train().batch(all, 0), {});
  EXPECT_NEAR(loss.mean(), expected_["loss"].get<double>(), 1e-5);
}

TEST_P(Multilingual, KeepsItsLanguagesWhenItIsTrained) {
  std::vector<std::string> lines;
  testing::train(config_, folder_, "out", {.lines = &lines});
  const auto before = text::TranslationTokenizer::load(config_.from),
             after = text::TranslationTokenizer::load(folder_ / "out");
  EXPECT_EQ(after.languages().codes(), before.languages().codes());
  const text::LanguagePair languages{config_.data.source_language, config_.data.target_language};
  EXPECT_EQ(after.encode_source("x", languages), before.encode_source("x", languages));
}

TEST_P(Multilingual, KnowsShortCodesAndRefusesOthers) {
  const auto source_of = [&] {
    const auto task = testing::task_of(config_, config_.from);
    const int64_t first = 0;
    return task->train().batch({&first, 1}, 0).source;
  };
  const std::vector<int32_t> expected = source_of();
  config_.data.source_language = "en";
  config_.data.target_language = std::string_view(GetParam()) == "mbart" ? "ro" : "fr";
  EXPECT_EQ(source_of(), expected);
  config_.data.target_language = "tlh";
  expect_error([&] { source_of(); }, "the target language is \"tlh\", expected one of the model's");
  config_.data.target_language.clear();
  expect_error([&] { source_of(); }, "the target language is not given");
  config_.data.languages = LanguageTags::both;
  config_.data.target_language = "fr";
  expect_error([&] { source_of(); }, "has its own way to name languages");
}

INSTANTIATE_TEST_SUITE_P(, Multilingual, ::testing::Values("m2m-100", "nllb", "mbart", "mbart-50"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace heed::train
