// Direct preference optimisation of an adapter.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/module_pattern.h"
#include "heed/data/preference_dataset.h"
#include "heed/train/batch_loss.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/ops/gradient_check.h"
#include "tests/train/language_run.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

data::Batch two_preferences() {
  const std::vector<int64_t> all{0, 1};
  return data::PreferenceDataset({{{1, 9, 4}, {7, 2}, {8, 30, 2}}, {{1, 5}, {3, 3, 6, 2}, {2}}},
                                 0.7f)
      .batch(all, 0);
}

/// A small Llama with an adapter of random matrices, or of a new adapter's.
struct Adapted {
  explicit Adapted(const TemporaryDirectory& folder, bool fresh = false)
      : model(config(folder), 3) {
    for (Parameter& parameter : model.parameters().all()) parameter.trainable = false;
    for (const auto& module : checkpoint::select_modules(model, {.modules = "q_proj,down_proj"}))
      adapter.add(module, 2, 0.5f);
    if (!fresh)
      for (Parameter& parameter : adapter.parameters().all())
        parameter.value = heed::testing::random_tensor(parameter.shape, parameter.name.size());
    model.attach({{&adapter.updates()}});
  }
  static model::ModelConfig config(const TemporaryDirectory& folder) {
    model::ModelConfig config = testing::causal_config(folder).model;
    config.vocab_size = 40;
    config.dropout = 0.0f;
    config.decoder_start_id = -1;
    return config;
  }

  model::Transformer model;
  model::LoraAdapter adapter{5};
};

TEST(PreferenceLoss, IsThatOfTheFormula) {
  const TemporaryDirectory folder;
  const Adapted m(folder);
  const data::Batch batch = two_preferences();
  const auto log_probabilities = [&](Context context) {
    const Tensor logits = m.model.logits(
        context, m.model.decode_all(context, {batch.decoder_input, batch.target_offsets}));
    std::vector<double> sums(4);
    for (size_t b = 0; b < 4; ++b)
      for (int32_t i = batch.preferences.offsets[b]; i < batch.preferences.offsets[b + 1]; ++i) {
        const float* row = logits.data<float>() + 40 * batch.rows[static_cast<size_t>(i)];
        double sum = 0;
        for (int v = 0; v < 40; ++v) sum += std::exp(static_cast<double>(row[v]));
        sums[b] += row[batch.target[static_cast<size_t>(i)]] - std::log(sum);
      }
    return sums;
  };
  const std::vector<AdaptedRows> none{{0, 0, {}}};
  const auto policy = log_probabilities({}), reference = log_probabilities({.adapters = none});
  double expected = 0;
  for (size_t b = 0; b < 4; b += 2)
    expected += std::log(
        1 + std::exp(-0.7 * (policy[b] - policy[b + 1] - (reference[b] - reference[b + 1]))));
  Context context;
  const ops::Loss loss = batch_loss(m.model, context, batch, {});
  EXPECT_NEAR(loss.smoothed, expected, 1e-4);
  EXPECT_EQ(loss.tokens, 2);
}

TEST(PreferenceLoss, OfANewAdapterIsThatOfAToss) {
  const TemporaryDirectory folder;
  const Adapted m(folder, true);
  Gradients gradients(m.adapter.parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  EXPECT_EQ(batch_loss(m.model, context, two_preferences(), {}).mean(), std::log(2.0));
}

TEST(PreferenceLoss, HasTheGradientsOfFiniteDifferences) {
  const TemporaryDirectory folder;
  const Adapted m(folder);
  std::vector<heed::testing::Checked> checked;
  for (const Parameter& parameter : m.adapter.parameters().all())
    checked.push_back(heed::testing::parameter(parameter));
  heed::testing::check_gradients(
      [&](Context& context) {
        const double loss = batch_loss(m.model, context, two_preferences(), {}).smoothed;
        context.tape->backward();
        return loss;
      },
      checked, 5e-3);
}

/// Trains a base, and returns the configuration of a run that learns to prefer the sea to the sun.
TrainConfig preference_config(const TemporaryDirectory& folder) {
  testing::write_book(folder);
  TrainConfig config = testing::causal_config(folder);
  config.run.max_steps = 4;
  train(config, folder, "base");
  std::ofstream file(folder / "preferences");
  for (int i = 0; i < 30; ++i)
    file << nlohmann::json{{"prompt", fmt::format("man {} saw", i)},
                           {"chosen", " the sea."},
                           {"rejected", " the sun."}}
         << '\n';
  config.run.task = TaskKind::preference;
  config.data.text = (folder / "preferences").string();
  config.from = (folder / "base").string();
  config.lora = {.enabled = true, .rank = 2};
  config.run.max_steps = 12;
  config.validation.eval_steps = 4;
  read_initial_config(config);
  return config;
}

TEST(Preferences, AreLearnedAndARunResumesToTheSameBits) {
  const TemporaryDirectory folder;
  const TrainConfig config = preference_config(folder);
  const auto task = testing::task_of(config, config.from);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "whole"), silent, {});
  trainer.run();
  EXPECT_FLOAT_EQ(static_cast<float>(trainer.history().steps.front().loss), std::log(2.0f));
  EXPECT_LT(trainer.history().validations.back().loss, 0.5);
  train(config, folder, "parts", {.stop_requested = stop_after(5)});
  train(config, folder, "parts", {.resume = true});
  for (const char* file : {"adapter_model.safetensors", "last/adapter_model.safetensors"})
    EXPECT_EQ(read_file(folder / "whole" / file), read_file(folder / "parts" / file)) << file;
}

TEST(Preferences, NeedAnAdapterAndCompleteLines) {
  const TemporaryDirectory folder;
  TrainConfig config = preference_config(folder);
  config.lora.enabled = false;
  expect_error([&] { config.validate(); }, "the task preference trains an adapter");
  config.lora.enabled = true;
  std::ofstream(folder / "preferences", std::ios::app) << R"({"prompt": "a", "chosen": "b"})";
  expect_error([&] { testing::task_of(config, config.from); }, "line 31: rejected is missing");
}

}  // namespace
}  // namespace heed::train
