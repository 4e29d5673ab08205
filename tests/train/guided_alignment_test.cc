// Training with alignments of words: the gradient of the whole model, and what the head learns.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "heed/base/text_lines.h"
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
               "links has 201 lines, and the text has 200 pairs");
  write_file_atomically(folder / "links", links.substr(0, links.find('\n') + 1));
  expect_error([&] { testing::task_of(config); }, "links has 1 lines, and the text has 200 pairs");
  config.run.task = TaskKind::text_to_text;
  expect_error([&] { config.validate(); }, "data.alignments are for the task translation");
}

/// Adds each pair of linked words of an example: what the tokens of each target word are linked to.
void add_linked_words(const Task& task, const data::Batch& example,
                      std::set<std::pair<std::string, std::string>>& words) {
  const auto aligned_to = [&](size_t row) {
    std::string text;
    for (int32_t i = example.aligned_offsets[row]; i < example.aligned_offsets[row + 1]; ++i)
      text +=
          task.piece(example.source[static_cast<size_t>(example.aligned[static_cast<size_t>(i)])]);
    return text;
  };
  std::string word;
  for (size_t row = 0; row + 1 < example.target.size(); ++row) {
    word += task.piece(example.target[row]);
    const bool last =
        task.piece(example.target[row + 1]).starts_with("▁") || row + 2 == example.target.size();
    if (!last) continue;
    words.insert({aligned_to(row), word});
    word.clear();
  }
  EXPECT_EQ(aligned_to(example.target.size() - 1), "") << "the end of sequence";
}

/// Two corpora: one with alignments and with each pair twice, of which one is dropped, and its
/// other direction, without.
TrainConfig two_corpora(const TemporaryDirectory& folder) {
  const auto doubled = [&](const std::string& name) {
    std::string lines;
    for (const std::string& line : read_lines(folder / name)) lines += line + "\n" + line + "\n";
    const auto file = folder / ("two." + name);
    write_file_atomically(file, lines);
    return file.string();
  };
  TrainConfig config = testing::tiny_config(folder);
  config.data.corpora = {{.source = doubled("source"),
                          .target = doubled("target"),
                          .alignments = doubled("links"),
                          .source_language = "en",
                          .target_language = "es"},
                         {.source = config.data.target,
                          .target = config.data.source,
                          .source_language = "es",
                          .target_language = "en"}};
  config.data.source.clear();
  config.data.target.clear();
  config.data.text_limits.drop_duplicates = true;
  config.data.languages = LanguageTags::target;
  config.validate();
  return config;
}

TEST(GuidedAlignment, LinksFollowTheirPairsThroughCorporaFiltersAndLanguages) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  write_alignments(folder);
  const auto task = testing::task_of(two_corpora(folder));
  std::set<std::pair<std::string, std::string>> words;
  std::vector<int64_t> one_of_each(2, -1);
  for (int64_t i = 0; i < task->train().count(); ++i) {
    const data::Batch example = task->train().batch({&i, 1}, 0);
    const bool linked = task->piece(example.source.front()) == ">>es<<";
    one_of_each[linked ? 1 : 0] = i;
    ASSERT_EQ(example.aligned_offsets.empty(), !linked) << i;
    if (linked) add_linked_words(*task, example, words);
  }
  EXPECT_EQ(words.size(), 8u) << "each word has one translation";
  const data::Batch mixed = task->train().batch(one_of_each, 0);
  ASSERT_EQ(mixed.aligned_offsets.size(), mixed.target.size() + 1);
  EXPECT_EQ(mixed.aligned_offsets[static_cast<size_t>(mixed.target_offsets[1])], 0);
  EXPECT_GE(std::ranges::min(mixed.aligned), mixed.source_offsets[1]);
}

TEST(GuidedAlignment, CorporaNameTheirOwnAlignments) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  write_alignments(folder);
  const TrainConfig config = two_corpora(folder);
  TrainConfig wrong = config;
  wrong.data.alignments = (folder / "links").string();
  expect_error([&] { wrong.validate(); }, "data.alignments and data.corpora are both given");
  wrong = config;
  wrong.data.valid_corpora = {config.data.corpora[0]};
  expect_error([&] { wrong.validate(); }, "a corpus of data.valid_corpora has alignments");
  wrong = config;
  wrong.data.corpora[0].alignments = (folder / "none").string();
  expect_error([&] { check_text_files(wrong); }, "none: cannot be read");
  testing::train(config, folder, "out");
  const std::string links = read_file(folder / "two.links");
  write_file_atomically(folder / "two.links", links + "0-0\n");
  expect_error([&] { testing::task_of(config); }, "two.links has 401 lines, and the text has 400");
}

}  // namespace
}  // namespace heed::train
