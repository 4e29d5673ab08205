// Training models that give labels or numbers to texts, pairs and tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/data/labelled_dataset.h"
#include "heed/metrics/classification.h"
#include "heed/model/families/head_change.h"
#include "heed/train/batch_loss.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/losses/label_loss.h"
#include "heed/train/tasks/labels/label_scores.h"
#include "tests/ops/gradient_check.h"
#include "tests/train/language_run.h"
#include "tests/train/same_bits.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

constexpr const char* kThings[] = {"sun", "sea", "bread", "light"};

/// Lines whose answers follow from the words.
void write_examples(const TemporaryDirectory& folder, TaskKind task, int lines = 60) {
  std::ofstream file(folder / "examples.jsonl");
  for (int i = 0; i < lines; ++i) {
    const std::string thing = kThings[i % 4], other = kThings[i / 4 % 4];
    nlohmann::json line;
    const std::string text = fmt::format("number {} is the {} there", i % 7, thing);
    switch (task) {
      case TaskKind::classify:
        line = {{"text", text}, {"label", i % 4 < 2 ? "sky" : "food"}};
        break;
      case TaskKind::tag:
        line = {{"text", text},
                {"spans", {{{"start", 16}, {"end", 16 + thing.size()}, {"label", "THING"}}}}};
        break;
      case TaskKind::score:
        line = {{"text", text}, {"score", i % 4}};
        break;
      default:
        line = {{"query", thing}, {"document", "the " + other}, {"label", thing == other ? 1 : 0}};
    }
    file << line << '\n';
  }
}

TrainConfig labelled_config(const TemporaryDirectory& folder, TaskKind task) {
  write_examples(folder, task);
  TrainConfig config = testing::masked_config(folder);
  config.model.head_transform = config.model.has_head = config.model.head_bias = false;
  config.model.tied_head = true;
  config.run.task = task;
  config.data.document = data::DocumentEnd::file;
  config.data.text = (folder / "examples.jsonl").string();
  config.data.held_out = 8;
  return config;
}

constexpr TaskKind kTasks[] = {TaskKind::classify, TaskKind::score, TaskKind::rerank,
                               TaskKind::tag};

data::Labels labels_for(data::LabelLoss loss) {
  data::Labels labels{.loss = loss, .count = 3, .weights = {0.5f, 2.0f, 1.5f}};
  labels.classes = {2, 0};
  labels.values = {1, 0, 0.3f, 0, 1, 1};
  return labels;
}

TEST(LabelLoss, HasTheGradientsOfFiniteDifferences) {
  for (const auto loss : {data::LabelLoss::cross_entropy, data::LabelLoss::binary_cross_entropy,
                          data::LabelLoss::squared_error}) {
    const Tensor logits = heed::testing::random_tensor({2, 3}, 7);
    const data::Labels labels = labels_for(loss);
    Tape tape;
    Context context{.tape = &tape}, plain;
    label_loss(context, logits, labels, 2.0f);
    const Tensor gradient = tape.take(logits);
    for (int64_t i = 0; i < logits.elements(); ++i) {
      constexpr float kStep = 1e-2f;
      const auto at = [&](float step) {
        Tensor moved = logits.clone();
        moved.data<float>()[i] += step;
        return label_loss(plain, moved, labels, 1.0f).smoothed;
      };
      EXPECT_NEAR(gradient.data<float>()[i], 2 * (at(kStep) - at(-kStep)) / (2.0 * kStep), 1e-3);
    }
  }
}

TEST(LabelLoss, OfMarginsAndItsGradientAreThoseOfSentenceTransformers) {
  const nlohmann::json golden = parse_json(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/vector_losses/losses.json"),
      "losses.json");
  const auto examples = golden["examples"].get<int32_t>();
  for (const auto& one : golden["cross_encoder"]) {
    const auto logits = one["logits"].get<std::vector<float>>();
    data::Labels labels{.loss = data::LabelLoss::margin_mse, .count = 1};
    labels.values = one["margins"].get<std::vector<float>>();
    const int32_t texts = static_cast<int32_t>(logits.size()) / examples;
    for (int32_t i = 0; i <= examples; ++i) labels.offsets.push_back(texts * i);
    Tape tape;
    Context context{.tape = &tape};
    const Tensor x = Tensor::of({std::ssize(logits), 1}, logits);
    const ops::Loss loss = label_loss(context, x, labels, 1.0f / static_cast<float>(examples));
    EXPECT_EQ(loss.tokens, examples);
    EXPECT_NEAR(loss.mean(), one["value"].get<double>(), 1e-6);
    const Tensor gradient = tape.take(x);
    for (size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(gradient.data<float>()[i], one["gradient"][i].get<double>(), 1e-6);
  }
}

TEST(LabelScores, OfSpansAreThoseOfSeqeval) {
  const nlohmann::json golden = parse_json(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics/labels.json"),
      "labels.json");
  for (const auto& one : golden["spans"]) {
    LabelledTargets targets{.loss = data::LabelLoss::cross_entropy, .of_tokens = true};
    targets.names = one["names"].get<std::vector<std::string>>();
    std::vector<std::vector<float>> logits;
    for (size_t i = 0; i < one["expected"].size(); ++i) {
      targets.texts.push_back({.ids = {}});
      targets.texts.back().classes = one["expected"][i].get<std::vector<int32_t>>();
      std::vector<float>& own = logits.emplace_back();
      for (const auto& label : one["predicted"][i])
        for (size_t c = 0; c < targets.names.size(); ++c)
          own.push_back(label.get<size_t>() == c ? 1.0f : 0.0f);
    }
    ValidationRecord record;
    add_label_scores(targets, logits, record);
    EXPECT_NEAR(record.metrics.at("f1_spans"), one["f1_spans"].get<double>(), 1e-12);
  }
}

TEST(LabelledTraining, OfMarginsLearnsAndResumesToTheSameBits) {
  const TemporaryDirectory folder;
  TrainConfig config = labelled_config(folder, TaskKind::rerank);
  std::ofstream file(folder / "examples.jsonl");
  for (int i = 0; i < 60; ++i)
    file << nlohmann::json{{"query", kThings[i % 4]},
                           {"document", fmt::format("the {}", kThings[i % 4])},
                           {"negatives", {kThings[(i + 1) % 4], "number"}},
                           {"scores", {2.5, i % 2, -1}}}
         << '\n';
  file.close();
  config.rerank.loss = RerankLoss::margin_mse;
  config.run.max_steps = 30;
  config.validation.eval_steps = 10;
  const auto steps = testing::expect_same_bits_resumed(
      config, folder, {"model.safetensors", "last/model.safetensors", "config.json"});
  EXPECT_LT(steps.back().loss, steps.front().loss / 2);
  const auto refused = [&](const char* line, const char* message) {
    std::ofstream(folder / "examples.jsonl") << line << '\n' << line << '\n';
    expect_error([&] { testing::task_of(config); }, message);
  };
  refused(R"({"query": "a", "document": "b", "score": 1})", "line 1: negative is missing");
  refused(R"({"query": "a", "document": "b", "negative": "c", "scores": [1, 2, 3]})",
          "there are 3 scores, expected one for each of 1 negatives, or also one for the document");
}

TEST(LabelledTraining, HasTheSameBitsOnAnyNumberOfRanks) {
  for (const TaskKind task : kTasks) {
    SCOPED_TRACE(name_of(task));
    const TemporaryDirectory folder;
    TrainConfig config = labelled_config(folder, task);
    config.model.dropout = 0.1f;
    testing::expect_same_bits_on_ranks(
        config, folder, {"model.safetensors", "last/optimizer.safetensors", "config.json"});
  }
}

TEST(LabelledTraining, LearnsEachTaskAndResumesToTheSameBits) {
  for (const TaskKind task : kTasks) {
    SCOPED_TRACE(name_of(task));
    const TemporaryDirectory folder;
    TrainConfig config = labelled_config(folder, task);
    config.run.max_steps = 60;
    config.validation.eval_steps = 20;
    const auto prepared = testing::task_of(config);
    Observer silent;
    Trainer trainer(config, *prepared, RunDirectory::begin(folder / "whole"), silent, {});
    trainer.run();
    const auto& validations = trainer.history().validations;
    EXPECT_LT(validations.back().train_loss, validations.front().train_loss);
    // Whether two words are the same is too much for a few steps.
    EXPECT_GT(validations.back().score(), task == TaskKind::rerank ? -1 : 0.7)
        << validations.back().best_by;
    EXPECT_FALSE(validations.back().samples.empty());
    train(config, folder, "parts", {.stop_requested = stop_after(25)});
    train(config, folder, "parts", {.resume = true});
    for (const char* file : {"model.safetensors", "last/model.safetensors", "config.json"})
      EXPECT_EQ(read_file(folder / "whole" / file), read_file(folder / "parts" / file)) << file;
  }
}

TEST(LabelledTraining, StartsFromAModelWithAnotherHeadOrTheSame) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  TrainConfig base = testing::masked_config(folder);
  base.run.max_steps = 2;
  train(base, folder, "base");
  TrainConfig config = labelled_config(folder, TaskKind::classify);
  config.from = (folder / "base").string();
  read_initial_config(config);
  std::vector<std::string> lines;
  train(config, folder, "first", {.lines = &lines});
  EXPECT_TRUE(std::ranges::any_of(
      lines, [](const std::string& line) { return line.starts_with("new weights: classifier."); }));
  EXPECT_EQ(checkpoint::build_model(folder / "first")->config().classifier.labels,
            (std::vector<std::string>{"food", "sky"}));
  config.from = (folder / "first").string();
  read_initial_config(config);
  lines.clear();
  train(config, folder, "second", {.lines = &lines});
  EXPECT_TRUE(std::ranges::none_of(
      lines, [](const std::string& line) { return line.starts_with("new weights"); }));
  config.lora = {.enabled = true, .rank = 2};
  train(config, folder, "adapter");
  EXPECT_TRUE(path_exists(folder / "adapter/adapter_model.safetensors"));
  config.classify.labels = {"sky", "food"};
  expect_error([&] { testing::task_of(config, config.from); }, "has no head for the labels sky");
}

TEST(LabelledTraining, OfThePresetBeginsWithTheTextsAlone) {
  const TemporaryDirectory folder;
  for (const TaskKind task : {TaskKind::classify, TaskKind::tag}) {
    write_examples(folder, task);
    TrainConfig config;
    read_toml(config, preset("encoder-tiny"), "encoder-tiny");
    config.run.task = task;
    config.data.text = (folder / "examples.jsonl").string();
    config.vocabulary.size = 320;
    config.run.max_steps = 2;
    train(config, folder, std::string(name_of(task)));
    EXPECT_EQ(checkpoint::build_model(folder / std::string(name_of(task)))->config().family,
              "bert");
  }
}

TEST(LabelledTraining, GivesATextSeveralLabelsAndWeighsThem) {
  const TemporaryDirectory folder;
  TrainConfig config = labelled_config(folder, TaskKind::classify);
  std::ofstream file(folder / "examples.jsonl");
  for (int i = 0; i < 40; ++i) {
    nlohmann::json labels = nlohmann::json::array();
    if (i % 2 == 0) labels.push_back("even");
    if (i % 3 == 0) labels.push_back("three");
    file << nlohmann::json{{"text", fmt::format("{} {}", kThings[i % 2], kThings[i % 3])},
                           {"labels", labels}}
         << '\n';
  }
  file.close();
  expect_error([&] { testing::task_of(config); }, "there are 2 labels, expected one");
  config.classify.multi_label = config.classify.balance = true;
  const auto task = testing::task_of(config);
  EXPECT_EQ(task->model().classifier.problem, model::ClassifierConfig::Problem::multi_label);
  const std::vector<int64_t> first{0};
  const data::Batch batch = task->train().batch(first, 0);
  ASSERT_EQ(batch.labels.weights.size(), 2u);
  EXPECT_GT(batch.labels.weights[1], batch.labels.weights[0]);
  config.classify.balance = false;
  config.classify.class_weights = {1, 2, 3};
  expect_error([&] { testing::task_of(config); }, "has 3 numbers, expected one for each of 2");
}

TEST(LabelledTraining, HoldsOutWholeQueries) {
  const TemporaryDirectory folder;
  const TrainConfig config = labelled_config(folder, TaskKind::rerank);
  const auto task = testing::task_of(config);
  EXPECT_EQ(task->valid().count(), 15);  // of one of four queries
}

TEST(LabelledTraining, ReadsColumns) {
  const TemporaryDirectory folder;
  TrainConfig config = labelled_config(folder, TaskKind::classify);
  config.data.text = (folder / "examples.tsv").string();
  std::ofstream(folder / "examples.tsv") << "label\tsentence\n1\ta sun\n\n0\ta sea\n1\tthe sun\n";
  EXPECT_EQ(testing::task_of(config)->model().classifier.labels,
            (std::vector<std::string>{"0", "1"}));
  std::ofstream(folder / "examples.tsv") << "a sun\tfirst\na sea\tsecond\nthe sun\tfirst\n";
  EXPECT_EQ(testing::task_of(config)->model().classifier.labels,
            (std::vector<std::string>{"first", "second"}));
  std::ofstream(folder / "examples.tsv") << "a sun\tfirst\na sea\n";
  expect_error([&] { testing::task_of(config); }, "line 2: there are 1 columns, expected 2: text");
  std::ofstream(folder / "examples.tsv") << "a\tb\tc\td\n";
  expect_error([&] { testing::task_of(config); }, "there are 4 columns, expected text, label; or");
}

/// What task_of() says to a file of one line, after good ones.
void expect_line_error(const TemporaryDirectory& folder, TrainConfig config,
                       const std::string& line, const std::string& message) {
  write_examples(folder, config.run.task, 8);
  std::ofstream(folder / "examples.jsonl", std::ios::app) << line << '\n';
  SCOPED_TRACE(line);
  expect_error([&] { testing::task_of(config); }, message);
}

TEST(LabelledTraining, NamesTheLineOfBadInput) {
  const TemporaryDirectory folder;
  TrainConfig config = labelled_config(folder, TaskKind::classify);
  expect_line_error(folder, config, "a text", "line 9: expected a JSON object");
  expect_line_error(folder, config, R"({"text": " ", "label": "sky"})", "line 9: text is empty");
  expect_line_error(folder, config, R"({"text": 3, "label": "sky"})", "text is 3, expected a str");
  expect_line_error(folder, config, R"({"text": "a"})", "line 9: label is missing");
  config.classify.labels = {"sky", "food"};
  expect_line_error(folder, config, R"({"text": "a", "label": "sea"})",
                    "line 9: the label \"sea\" is not among sky, food");
  config = labelled_config(folder, TaskKind::score);
  expect_line_error(folder, config, R"({"text": "a", "score": "nan"})",
                    "score is \"nan\", expected");
  expect_line_error(folder, config, R"({"text": "a", "score": NaN})", "line 9");
  expect_line_error(folder, config, R"({"text": "a", "score": 1e300})", "expected a number");
  config = labelled_config(folder, TaskKind::rerank);
  expect_line_error(folder, config, R"({"query": "a", "document": "", "label": 1})",
                    "line 9: document is empty");
  expect_line_error(folder, config, R"({"query": "a", "document": "b", "label": 2})",
                    "line 9: score is 2, expected 0 to 1");
  config = labelled_config(folder, TaskKind::tag);
  expect_line_error(folder, config, R"({"text": "a sea", "spans": [[2, 9, "THING"]]})",
                    "line 9: end of a span");
  expect_line_error(folder, config, R"({"text": "a sea", "spans": [[0, 4, "A"], [2, 5, "B"]]})",
                    "line 9: the spans 0 to 4 and 2 to 5 overlap");
  expect_line_error(folder, config, R"({"text": "a", "spans": [[1, 1, "A"]]})",
                    "a span begins at 1 and ends at 1");
}

TEST(LabelledTraining, RefusesOneClassAndReadsAMillionCharacters) {
  const TemporaryDirectory folder;
  TrainConfig config = labelled_config(folder, TaskKind::classify);
  std::ofstream(folder / "examples.jsonl") << R"({"text": "a", "label": "sky"})" << '\n'
                                           << R"({"text": "b", "label": "sky"})" << '\n'
                                           << R"({"text": "c", "label": "sky"})" << '\n';
  expect_error([&] { testing::task_of(config); },
               "texts have the label \"sky\", so there is nothing to tell apart");
  write_examples(folder, TaskKind::classify, 20);
  std::ofstream(folder / "examples.jsonl", std::ios::app)
      << nlohmann::json{{"text", std::string(1'000'000, 'a')}, {"label", "sky"}} << '\n';
  const auto task = testing::task_of(config);
  for (int64_t i = 0; i < task->train().count(); ++i)
    EXPECT_LE(task->train().lengths_at(i).source, config.model.max_positions);
}

}  // namespace
}  // namespace heed::train
