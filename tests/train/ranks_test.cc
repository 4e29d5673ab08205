// Training on several ranks, which are threads here.
#include <gtest/gtest.h>

#include <array>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/distribute/agree.h"
#include "heed/train/distributed/gradient_buckets.h"
#include "tests/distribute/group_ranks.h"
#include "tests/train/language_run.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

/// A session of a run on several ranks; throws what the first of them threw.
void train_on(int ranks, const TrainConfig& config, const TemporaryDirectory& folder,
              const std::string& out, bool resume = false, int steps = 1000) {
  const auto one = [&](distribute::Group& group) {
    std::optional<RunDirectory> run;
    if (group.is_root())
      run = resume ? RunDirectory::resume(folder / out) : RunDirectory::begin(folder / out);
    group.all_gather(std::array{0.0});
    if (!run) run = RunDirectory::join(folder / out, resume);
    const auto task = testing::task_of(config, vocabulary_source(config, *run));
    Observer silent;
    // One rank is asked to stop, and all do.
    const auto stop = group.rank() == ranks - 1 ? testing::stop_after(steps) : [] { return false; };
    const std::shared_ptr<distribute::Group> shared(std::shared_ptr<void>(), &group);
    Trainer(config, *task, *run, silent, {.stop_requested = stop, .group = shared}).run();
  };
  distribute::run_groups(std::make_shared<distribute::LocalMailbox>(ranks), one);
}

TrainConfig config_with(const TemporaryDirectory& folder, OptimizerKind optimizer,
                        const char* compute) {
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.optimizer.name = optimizer;
  if (optimizer == OptimizerKind::schedule_free)
    config.optimizer.lr_scheduler_type = ScheduleKind::constant;
  config.run.compute = compute;
  config.run.token_budget = 256;
  config.distributed.leaves = 8;
  config.model.dropout = 0.1f;
  return config;
}

/// Hashes of what a run leaves.
std::vector<size_t> files_of(const TemporaryDirectory& folder, const std::string& out) {
  std::vector<size_t> files;
  for (const char* name :
       {"model.safetensors", "last/model.safetensors", "last/optimizer.safetensors"})
    files.push_back(std::hash<std::string>()(read_file(folder / out / name)));
  return files;
}

void expect_same_bits(const TrainConfig& config, const TemporaryDirectory& folder) {
  testing::train(config, folder, "alone");
  for (const int ranks : {2, 4, 8}) {
    const std::string out = fmt::format("on{}", ranks);
    train_on(ranks, config, folder, out);
    EXPECT_EQ(files_of(folder, out), files_of(folder, "alone")) << ranks << " ranks";
  }
}

TEST(Ranks, TrainTheSameBitsOnEveryPowerOfTwo) {
  for (const auto& [optimizer, compute] : {std::pair{OptimizerKind::adam, "f32"},
                                           {OptimizerKind::adam, "bf16"},
                                           {OptimizerKind::muon, "f32"},
                                           {OptimizerKind::soap, "f32"},
                                           {OptimizerKind::schedule_free, "f32"},
                                           {OptimizerKind::schedule_free, "bf16"}}) {
    SCOPED_TRACE(std::string(name_of(optimizer)) + " " + compute);
    const TemporaryDirectory folder;
    expect_same_bits(config_with(folder, optimizer, compute), folder);
  }
}

TEST(Ranks, TrainTheSameBitsIfTheHeadHasItsOwnWeight) {
  const TemporaryDirectory folder;
  TrainConfig config = config_with(folder, OptimizerKind::adam, "bf16");
  config.model.tied_head = false;
  expect_same_bits(config, folder);
}

TEST(Ranks, TrainTheSameBitsOnSeveralCorpora) {
  const TemporaryDirectory folder;
  TrainConfig config = config_with(folder, OptimizerKind::adam, "f32");
  const data::Corpus corpus = training_corpora(config.data).front();
  config.data.corpora = {corpus, {.source = corpus.target, .target = corpus.source}};
  config.data.corpora[0].weight = 3;
  config.data.corpora[1].weight = 1;
  config.data.source.clear();
  config.data.target.clear();
  expect_same_bits(config, folder);
}

/// The validations that a run has logged, without their times.
std::vector<nlohmann::json> validations_of(const TemporaryDirectory& folder,
                                           const std::string& out) {
  std::vector<nlohmann::json> validations;
  std::ifstream log(folder / out / "metrics.jsonl");
  for (std::string line; std::getline(log, line);) {
    nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("kind") != "validation") continue;
    record.erase("seconds");
    validations.push_back(std::move(record));
  }
  return validations;
}

TEST(Ranks, ValidateAsOneProcessDoes) {
  for (const TaskKind task : {TaskKind::translation, TaskKind::causal_lm, TaskKind::masked_lm}) {
    const TemporaryDirectory folder;
    testing::write_text(folder);
    testing::write_book(folder);
    TrainConfig config = task == TaskKind::causal_lm   ? testing::causal_config(folder)
                         : task == TaskKind::masked_lm ? testing::masked_config(folder)
                                                       : testing::tiny_config(folder);
    config.distributed.leaves = 4;
    config.run.token_budget = 256;
    config.validation.sentences = 20;
    config.validation.samples = 3;
    testing::train(config, folder, "alone");
    EXPECT_EQ(validations_of(folder, "alone").size(), 3u);
    for (const int ranks : {2, 4}) {
      const std::string out = fmt::format("on{}", ranks);
      train_on(ranks, config, folder, out);
      EXPECT_EQ(validations_of(folder, out), validations_of(folder, "alone"));
    }
  }
}

/// The sum of a figure of communication over the steps of a run.
double total_of(const TemporaryDirectory& folder, const std::string& out, const char* figure) {
  double sum = 0;
  std::ifstream log(folder / out / "metrics.jsonl");
  for (std::string line; std::getline(log, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("kind") == "step") sum += record.at("communication").at(figure).get<double>();
  }
  return sum;
}

TEST(Ranks, LogWhatTheyExchange) {
  const TemporaryDirectory folder;
  const TrainConfig config = config_with(folder, OptimizerKind::adam, "bf16");
  testing::train(config, folder, "alone");
  EXPECT_EQ(read_file(folder / "alone/metrics.jsonl").find("communication"), std::string::npos);
  train_on(2, config, folder, "on2");
  EXPECT_GT(total_of(folder, "on2", "seconds"), 0);
  EXPECT_GE(total_of(folder, "on2", "imbalance"), 0);
  const double hidden = total_of(folder, "on2", "hidden") / 24;
  EXPECT_TRUE(hidden >= 0 && hidden <= 1) << hidden;
  // Half of the gradient in 4 bytes, half of the weights in 2 or 4, and small numbers, by each.
  const double elements = static_cast<double>(
      model::Transformer(testing::task_of(config)->model(), 1).parameters().count());
  const double bytes = total_of(folder, "on2", "bytes");
  EXPECT_GT(bytes, 23 * elements * (4 + 2));
  EXPECT_LT(bytes, 24 * (elements * (4 + 4) + 4096));
}

TEST(Ranks, ResumeOnAnyOtherNumber) {
  for (const OptimizerKind optimizer :
       {OptimizerKind::adam, OptimizerKind::muon, OptimizerKind::schedule_free}) {
    SCOPED_TRACE(name_of(optimizer));
    const TemporaryDirectory folder;
    const TrainConfig config = config_with(folder, optimizer, "f32");
    testing::train(config, folder, "whole");
    train_on(4, config, folder, "parts", false, 5);
    train_on(2, config, folder, "parts", true, 6);
    train_on(8, config, folder, "parts", true, 4);
    testing::train(config, folder, "parts", {.resume = true});
    EXPECT_EQ(files_of(folder, "parts"), files_of(folder, "whole"));
  }
}

TEST(Ranks, OfOtherNumbersRepeatTheirBits) {
  const TemporaryDirectory folder;
  const TrainConfig config = config_with(folder, OptimizerKind::adam, "f32");
  train_on(3, config, folder, "first");
  train_on(3, config, folder, "second");
  EXPECT_EQ(files_of(folder, "first"), files_of(folder, "second"));
}

TEST(Ranks, AreNotMoreThanTheMicrobatches) {
  const TemporaryDirectory folder;
  TrainConfig config = config_with(folder, OptimizerKind::adam, "f32");
  config.distributed.leaves = 2;
  try {
    train_on(4, config, folder, "run");
    FAIL() << "4 ranks share 2 microbatches";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "the run has 4 ranks, but its steps have 2 microbatches: distributed.leaves can be a "
              "larger power "
              "of two");
  }
}

TEST(Ranks, KeepMatricesWholeWhereTheOptimizerNeedsThem) {
  model::Transformer model(testing::tiny_model(), 1);
  const auto trained = trained_parameters(model.parameters());
  for (const GradientBucket& bucket :
       gradient_buckets(trained, {.pieces = 8, .keep_matrices = true}))
    for (size_t i = 0; i < 8; ++i)
      for (const Shard& part : parts_between(bucket, bucket.pieces[i], bucket.pieces[i + 1]))
        EXPECT_TRUE(part.is_whole() || part.parameter->shape.rank() == 1) << part.parameter->name;
}

}  // namespace
}  // namespace heed::train
