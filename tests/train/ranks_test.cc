// Training on several ranks, which are threads here.
#include <gtest/gtest.h>

#include <thread>

#include "heed/base/error.h"
#include "heed/distribute/agree.h"
#include "heed/train/gradient_buckets.h"
#include "tests/distribute/local_ranks.h"
#include "tests/train/tiny_model.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

/// A session of a run on several ranks; throws what the first of them threw.
void train_on(int ranks, const TrainConfig& config, const TemporaryDirectory& folder,
              const std::string& out, bool resume = false, int steps = 1000) {
  const auto mailbox = std::make_shared<distribute::Mailbox>(ranks);
  const auto one = [&](int rank) {
    const auto group = std::make_shared<distribute::Group>(
        [&] { return std::make_unique<distribute::LocalTransport>(mailbox, rank); },
        distribute::Deadlines{});
    std::optional<RunDirectory> run;
    if (group->is_root())
      run = resume ? RunDirectory::resume(folder / out) : RunDirectory::begin(folder / out);
    group->gather({});
    if (!run) run = RunDirectory::join(folder / out, resume);
    const auto task = testing::task_of(config, vocabulary_source(config, *run));
    Observer silent;
    // One rank is asked to stop, and all do.
    const auto stop = rank == ranks - 1 ? testing::stop_after(steps) : [] { return false; };
    Trainer(config, *task, *run, silent, {.stop_requested = stop, .group = group}).run();
  };
  std::vector<std::exception_ptr> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        one(rank);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

TrainConfig config_with(const TemporaryDirectory& folder, OptimizerKind optimizer,
                        const char* compute) {
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.optimizer.name = optimizer;
  config.run.compute = compute;
  config.run.token_budget = 256;
  config.distributed.leaves = 8;
  config.model.dropout = 0.1f;
  return config;
}

/// What a run leaves.
std::vector<std::string> files_of(const TemporaryDirectory& folder, const std::string& out) {
  std::vector<std::string> files;
  for (const char* name :
       {"model.safetensors", "last/model.safetensors", "last/optimizer.safetensors"})
    files.push_back(read_file(folder / out / name));
  return files;
}

TEST(Ranks, TrainTheSameBitsOnEveryPowerOfTwo) {
  for (const auto& [optimizer, compute] : {std::pair{OptimizerKind::adam, "f32"},
                                           {OptimizerKind::adam, "bf16"},
                                           {OptimizerKind::muon, "f32"},
                                           {OptimizerKind::soap, "f32"}}) {
    SCOPED_TRACE(std::string(name_of(optimizer)) + " " + compute);
    const TemporaryDirectory folder;
    const TrainConfig config = config_with(folder, optimizer, compute);
    testing::train(config, folder, "alone");
    for (const int ranks : {2, 4, 8}) {
      const std::string out = fmt::format("on{}", ranks);
      train_on(ranks, config, folder, out);
      EXPECT_EQ(files_of(folder, out), files_of(folder, "alone")) << ranks << " ranks";
    }
  }
}

TEST(Ranks, ResumeOnAnyOtherNumber) {
  for (const OptimizerKind optimizer : {OptimizerKind::adam, OptimizerKind::muon}) {
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

TEST(Ranks, AreNotMoreThanTheLeaves) {
  const TemporaryDirectory folder;
  TrainConfig config = config_with(folder, OptimizerKind::adam, "f32");
  config.distributed.leaves = 2;
  try {
    train_on(4, config, folder, "run");
    FAIL() << "4 ranks share 2 leaves";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "the run has 4 ranks, but its steps have 2 leaves: distributed.leaves can be a "
              "larger power "
              "of two");
  }
}

TEST(Ranks, HaveEqualPartsOfTheMomentsOfAdam) {
  model::Transformer model(testing::tiny_model(), 1);
  const auto trained = trained_parameters(model.parameters());
  for (const GradientBucket& bucket : gradient_buckets(trained, {.pieces = 8})) {
    EXPECT_EQ(bucket.pieces.size(), 9u);
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(bucket.pieces[i] % 64, 0);
      EXPECT_NEAR(static_cast<double>(bucket.pieces[i + 1] - bucket.pieces[i]),
                  static_cast<double>(bucket.elements) / 8, 64);
    }
  }
}

TEST(Ranks, KeepMatricesWholeWhereTheOptimizerNeedsThem) {
  model::Transformer model(testing::tiny_model(), 1);
  const auto trained = trained_parameters(model.parameters());
  for (const GradientBucket& bucket :
       gradient_buckets(trained, {.pieces = 8, .keep_matrices = true}))
    for (size_t i = 0; i < 8; ++i)
      for (const TrainedPart& part : parts_between(bucket, bucket.pieces[i], bucket.pieces[i + 1]))
        EXPECT_TRUE(part.is_whole() || part.parameter->shape.rank() == 1) << part.parameter->name;
}

}  // namespace
}  // namespace heed::train
