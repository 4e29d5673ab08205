// Training a LoRA adapter of a frozen model.
#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/quantized_directory.h"
#include "heed/quantize/quantization.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/train/language_run.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

/// Trains a model in `folder`/base, and returns the configuration of a run that adapts it.
TrainConfig adapting_config(const TemporaryDirectory& folder, TrainConfig base) {
  base.run.max_steps = 4;
  train(base, folder, "base", {});
  TrainConfig config = base;
  config.from = (folder / "base").string();
  config.lora = {.enabled = true, .rank = 3, .alpha = 6, .dropout = 0.2};
  read_initial_config(config);
  config.run.max_steps = 16;
  config.run.average = 2;
  config.validation.eval_steps = 4;
  return config;
}

TrainConfig causal_adapter(const TemporaryDirectory& folder) {
  testing::write_book(folder);
  return adapting_config(folder, testing::causal_config(folder));
}

constexpr const char* kFiles[] = {"last/adapter_model.safetensors", "last/optimizer.safetensors",
                                  "adapter_model.safetensors", "adapter_config.json"};

TEST(Lora, ResumingGivesTheSameBits) {
  for (const char* compute : {"f32", "bf16"}) {
    SCOPED_TRACE(compute);
    const TemporaryDirectory folder;
    TrainConfig config = causal_adapter(folder);
    config.run.compute = compute;
    config.run.gradient_accumulation_steps = 2;
    EXPECT_EQ(train(config, folder, "whole", {}), Trainer::Outcome::finished);
    EXPECT_EQ(train(config, folder, "parts", {.stop_requested = stop_after(5)}),
              Trainer::Outcome::stopped);
    EXPECT_EQ(train(config, folder, "parts", {.resume = true, .stop_requested = stop_after(4)}),
              Trainer::Outcome::stopped);
    EXPECT_EQ(train(config, folder, "parts", {.resume = true}), Trainer::Outcome::finished);
    for (const char* file : kFiles)
      EXPECT_EQ(read_file(folder / "whole" / file), read_file(folder / "parts" / file)) << file;
  }
}

TEST(Lora, WritesTheAdapterThatItValidated) {
  const TemporaryDirectory folder;
  TrainConfig config = causal_adapter(folder);
  config.run.average = 0;
  const std::string base = read_file(folder / "base/model.safetensors");
  const auto task = testing::task_of(config, config.from);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), silent, {});
  trainer.run();
  EXPECT_EQ(read_file(folder / "base/model.safetensors"), base);
  EXPECT_FALSE(path_exists(folder / "out/model.safetensors"));

  const auto model = checkpoint::load_model(config.from);
  const std::vector<int32_t> ids{3, 9, 40, 7}, offsets{0, 4};
  const auto logits_of = [&](const model::Transformer& one) {
    Context context;
    return one.logits(context, one.decode_all(context, {ids, offsets}));
  };
  const Tensor before = logits_of(*model);
  const checkpoint::LoadedAdapter last = checkpoint::load_adapter(folder / "out/last", *model);
  EXPECT_EQ(last.config.base_model, config.from);
  model->attach({{&last.lora->updates()}});
  const Tensor found = logits_of(*model), expected = logits_of(trainer.model());
  bool changed = false;
  for (int64_t i = 0; i < found.elements(); ++i) {
    EXPECT_EQ(found.data<float>()[i], expected.data<float>()[i]);
    changed |= found.data<float>()[i] != before.data<float>()[i];
  }
  EXPECT_TRUE(changed);
  const auto& steps = trainer.history().steps;
  EXPECT_LT(steps.back().loss, steps.front().loss);
}

TEST(Lora, AdaptsAQuantizedModelAsItIsStored) {
  const TemporaryDirectory folder;
  TrainConfig config = causal_adapter(folder);
  const auto model = checkpoint::load_model(config.from, {.precision = {std::nullopt}});
  quantize::quantize(*model, {.dtype = DType::q8_0});
  checkpoint::save_quantized(folder / "quantized", *model, config.from);
  config.from = (folder / "quantized").string();
  read_initial_config(config);
  EXPECT_EQ(train(config, folder, "out", {.stop_requested = stop_after(5)}),
            Trainer::Outcome::stopped);
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
  const auto again = checkpoint::load_model(config.from, {.precision = {std::nullopt}});
  EXPECT_FALSE(checkpoint::load_adapter(folder / "out", *again).lora->modules().empty());
}

/// Rewrites a file of text after a change.
void edit(const std::filesystem::path& path, const std::function<void(std::string&)>& change) {
  std::string text = read_file(path);
  change(text);
  write_file_atomically(path, text);
}

TEST(Lora, DoesNotResumeWithAnotherBase) {
  const TemporaryDirectory folder;
  const TrainConfig config = causal_adapter(folder);
  train(config, folder, "out", {.stop_requested = stop_after(5)});
  const std::string checkpoint = read_file(folder / "out/last/training.json"),
                    log = read_file(folder / "out/metrics.jsonl");
  // One bit of one weight, in the last of the file's bytes.
  const auto flip = [](std::string& bytes) { bytes[bytes.size() - 4] ^= 1; };
  edit(folder / "base/model.safetensors", flip);
  const std::string error = error_of([&] { train(config, folder, "out", {.resume = true}); });
  EXPECT_TRUE(error.starts_with((folder / "base").string() +
                                ": the base model has changed since the run began: "))
      << error;
  EXPECT_NE(error.find("now with other types or values"), std::string::npos) << error;
  EXPECT_EQ(read_file(folder / "out/last/training.json"), checkpoint);
  EXPECT_EQ(read_file(folder / "out/metrics.jsonl"), log);
  edit(folder / "base/model.safetensors", flip);
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
}

TEST(Lora, ResumesACheckpointThatDoesNotKnowItsBase) {
  const TemporaryDirectory folder;
  const TrainConfig config = causal_adapter(folder);
  train(config, folder, "out", {.stop_requested = stop_after(5)});
  edit(folder / "out/last/training.json", [](std::string& text) {
    const size_t begin = text.find("  \"base\": {"), end = text.find("  },\n", begin);
    text.erase(begin, end + 5 - begin);
  });
  ASSERT_EQ(read_file(folder / "out/last/training.json").find("base"), std::string::npos);
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
  EXPECT_NE(read_file(folder / "out/last/training.json").find("base"), std::string::npos);
}

TEST(Lora, AdaptsEncodersAndEncoderDecoders) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  TrainConfig masked = adapting_config(folder, testing::masked_config(folder));
  masked.lora.target_modules = ".*(query|value)";
  masked.run.max_steps = 4;
  EXPECT_EQ(train(masked, folder, "masked", {}), Trainer::Outcome::finished);

  const TemporaryDirectory other;
  testing::write_text(other);
  TrainConfig translation = adapting_config(other, testing::tiny_config(other));
  translation.lora.layers = {0};
  translation.run.max_steps = 4;
  EXPECT_EQ(train(translation, other, "out", {}), Trainer::Outcome::finished);
}

TEST(Lora, NamesWhatCannotBeAdapted) {
  const TemporaryDirectory folder;
  TrainConfig config = causal_adapter(folder);
  config.lora.target_modules = "q_prij";
  expect_error([&] { train(config, folder, "a", {}); },
               "no module of the model is called \"q_prij\"; its modules are down_proj");
  config.lora.target_modules = "q_proj";
  config.lora.layers = {7};
  expect_error([&] { train(config, folder, "b", {}); }, "select nothing in these layers");
  config.lora.layers = {};
  config.lora.rank = 0;
  expect_error([&] { train(config, folder, "c", {}); }, "lora.rank is 0, expected at least 1");
  config.lora.rank = 1;
  config.from = "";
  expect_error([&] { config.validate(); }, "model.from names no model to adapt");
}

}  // namespace
}  // namespace heed::train
