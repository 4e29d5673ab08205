// Training with alignments of words: the gradient of the whole model, and what the head learns.
#include <gtest/gtest.h>

#include <fstream>

#include "heed/train/batch_loss.h"
#include "heed/train/step_loss.h"
#include "tests/ops/gradient_check.h"
#include "tests/train/tiny_model.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

data::Batch aligned_batch() {
  const std::vector<data::Example> examples{{{5, 9, 7, 1}, {4, 6, 1}, {{1, 0}, {0, 1}, {2, 1}}},
                                            {{8, 1}, {12, 13, 1}, {{0, 0}, {0, 1}}}};
  const int64_t indices[] = {0, 1};
  return data::make_batch(examples, indices, 0);
}

TEST(GuidedAlignment, TheGradientOfEveryParameterIsThatOfFiniteDifferences) {
  model::ModelConfig config = testing::tiny_model();
  config.activation = kernels::Activation::silu;  // without a kink, which finite steps could cross
  model::Transformer model(config, 3);
  std::vector<heed::testing::Checked> checked;
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.trainable) checked.push_back(heed::testing::parameter(parameter));
  const data::Batch batch = aligned_batch();
  heed::testing::check_gradients(
      [&](Context& context) {
        const ops::Loss loss = batch_loss(model, context, batch, {.gradient_scale = 0.5f}, 0.7f);
        context.tape->backward();
        return 0.5 * loss.smoothed;
      },
      checked, 3e-3);
}

TEST(GuidedAlignment, AddsToTheLossAndNotToTheLikelihood) {
  const model::Transformer model(testing::tiny_model(), 3);
  Context context;
  const data::Batch batch = aligned_batch();
  const ops::Loss plain = batch_loss(model, context, batch, {});
  const ops::Loss one = batch_loss(model, context, batch, {}, 1);
  const ops::Loss two = batch_loss(model, context, batch, {}, 2);
  EXPECT_EQ(one.negative_log_likelihood, plain.negative_log_likelihood);
  EXPECT_GT(one.smoothed, plain.smoothed + 0.1);
  EXPECT_NEAR(two.smoothed - plain.smoothed, 2 * (one.smoothed - plain.smoothed), 1e-9);
  EXPECT_FALSE(context.observe_attention);
}

/// The alignments of write_text(): words in reverse order.
void write_alignments(const TemporaryDirectory& folder) {
  std::ifstream source(folder / "source");
  std::ofstream links(folder / "links");
  for (std::string line; std::getline(source, line);) {
    const auto words = 1 + std::count(line.begin(), line.end(), ' ');
    for (int64_t i = 0; i < words; ++i) links << (i ? " " : "") << i << '-' << words - 1 - i;
    links << '\n';
  }
}

double alignment_loss_after(const TrainConfig& config, const TemporaryDirectory& folder,
                            const std::string& out, double weight) {
  TrainConfig own = config;
  own.guided_alignment.weight = weight;
  testing::train(own, folder, out);
  const auto model = checkpoint::load_model(folder / out);
  const auto task = testing::task_of(own);
  std::vector<int64_t> some(20);
  for (size_t i = 0; i < some.size(); ++i) some[i] = static_cast<int64_t>(i);
  const data::Batch batch = task->train().batch(some, 0);
  Context context;
  return (batch_loss(*model, context, batch, {}, 1).smoothed -
          batch_loss(*model, context, batch, {}).smoothed) /
         static_cast<double>(batch.aligned.size());
}

TEST(GuidedAlignment, AHeadLearnsTheAlignments) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  write_alignments(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.data.alignments = (folder / "links").string();
  config.run.max_steps = 60;
  config.validation.eval_steps = 60;
  const double unguided = alignment_loss_after(config, folder, "plain", 0);
  const double guided = alignment_loss_after(config, folder, "guided", 1);
  EXPECT_LT(guided, 0.7 * unguided);
}

TEST(GuidedAlignment, AResumedRunEndsWithTheSameBits) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  write_alignments(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.data.alignments = (folder / "links").string();
  testing::train(config, folder, "whole");
  testing::train(config, folder, "parts", {.stop_requested = testing::stop_after(10)});
  testing::train(config, folder, "parts", {.resume = true});
  EXPECT_EQ(read_file(folder / "whole/model.safetensors"),
            read_file(folder / "parts/model.safetensors"));
  std::string links = read_file(folder / "links");
  links[0] = '1';
  write_file_atomically(folder / "links", links);
  config.run.max_steps = 30;
  expect_error([&] { testing::train(config, folder, "parts", {.resume = true}); },
               "the training text has changed since the run began");
}

TEST(GuidedAlignment, NamesALineThatIsNone) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  write_alignments(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.data.alignments = (folder / "links").string();
  const std::string links = read_file(folder / "links");
  write_file_atomically(folder / "links", "0:0\n" + links);
  expect_error([&] { testing::task_of(config); }, "links line 1: \"0:0\" is no link of two words");
  write_file_atomically(folder / "links", links + "0-0\n");
  expect_error([&] { testing::task_of(config); },
               "links has 201 lines, and the training text has 200 pairs");
  config.run.task = TaskKind::text_to_text;
  expect_error([&] { config.validate(); }, "data.alignments are for the task translation");
}

}  // namespace
}  // namespace heed::train
