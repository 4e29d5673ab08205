#include "heed/train/trainer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "tests/base/threads.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

std::string last_weights(const TemporaryDirectory& folder, const std::string& out) {
  return read_file(folder / out / "last" / "model.safetensors");
}

TEST(Trainer, ResumingGivesTheSameBits) {
  for (const auto& [optimizer, compute] : {std::pair{OptimizerKind::adam, "f32"},
                                           {OptimizerKind::adam, "bf16"},
                                           {OptimizerKind::muon, "f32"},
                                           {OptimizerKind::muon, "bf16"},
                                           {OptimizerKind::soap, "f32"},
                                           {OptimizerKind::soap, "bf16"},
                                           {OptimizerKind::schedule_free, "f32"}}) {
    SCOPED_TRACE(std::string(name_of(optimizer)) + " " + compute);
    const TemporaryDirectory folder;
    testing::write_text(folder);
    TrainConfig config = testing::tiny_config(folder);
    config.optimizer.name = optimizer;
    config.run.compute = compute;
    config.run.gradient_accumulation_steps = 2;
    config.optimizer.lr_scheduler_type =
        optimizer == OptimizerKind::schedule_free ? ScheduleKind::constant : ScheduleKind::cosine;
    EXPECT_EQ(train(config, folder, "whole", {}), Trainer::Outcome::finished);
    // Interrupted between validations, at one, and twice in a row.
    EXPECT_EQ(train(config, folder, "parts", {.stop_requested = stop_after(5)}),
              Trainer::Outcome::stopped);
    EXPECT_EQ(train(config, folder, "parts", {.resume = true, .stop_requested = stop_after(3)}),
              Trainer::Outcome::stopped);
    EXPECT_EQ(train(config, folder, "parts", {.resume = true, .stop_requested = stop_after(6)}),
              Trainer::Outcome::stopped);
    EXPECT_EQ(train(config, folder, "parts", {.resume = true}), Trainer::Outcome::finished);
    EXPECT_EQ(last_weights(folder, "whole"), last_weights(folder, "parts"));
    EXPECT_EQ(read_file(folder / "whole" / "last" / "optimizer.safetensors"),
              read_file(folder / "parts" / "last" / "optimizer.safetensors"));
    EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
              read_file(folder / "parts" / "model.safetensors"));
  }
}

TEST(Trainer, ContinuesAFinishedRunWithMoreSteps) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 10;
  train(config, folder, "out", {});
  config.run.max_steps = 16;
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
  config.optimizer.lr_scheduler_type = ScheduleKind::inverse_sqrt;
  train(config, folder, "whole", {});
  EXPECT_EQ(last_weights(folder, "out"), last_weights(folder, "whole"));
}

TEST(Trainer, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  for (const OptimizerKind optimizer :
       {OptimizerKind::adam, OptimizerKind::muon, OptimizerKind::soap}) {
    config.optimizer.name = optimizer;
    const std::string name(name_of(optimizer));
    for (const int count : {1, 3}) {
      const Threads threads(count);
      train(config, folder, name + std::to_string(count), {});
    }
    EXPECT_EQ(last_weights(folder, name + "1"), last_weights(folder, name + "3"));
  }
}

TEST(Trainer, SavesAModelEvenWithoutTimeForAStep) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 0;
  config.run.minutes = 1e-9;
  EXPECT_EQ(train(config, folder, "out"), Trainer::Outcome::finished);
  EXPECT_TRUE(path_exists(folder / "out/model.safetensors"));
  config.run.max_steps = 2;
  config.run.minutes = 0;
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
}

TEST(Trainer, TrainsAnEncoderDecoderWithASlidingWindow) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.model.windows = {2};
  config.run.max_steps = 2;
  EXPECT_EQ(train(config, folder, "out"), Trainer::Outcome::finished);
}

TEST(Trainer, LearnsATinyLanguage) {
  const TemporaryDirectory folder;
  testing::write_text(folder, 600);
  TrainConfig config = testing::tiny_config(folder);
  config.model.d_model = 32;
  config.model.n_heads = 4;
  config.model.dropout = 0.0f;
  config.run.token_budget = 512;
  config.run.max_steps = 300;
  config.validation.eval_steps = 300;
  config.validation.sentences = 20;
  const auto task = testing::task_of(config);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), silent, {});
  trainer.run();
  EXPECT_LT(trainer.history().validations.back().perplexity, 2.0);
  EXPECT_LT(trainer.history().steps.back().loss, 0.5 * trainer.history().steps.front().loss);
}

/// Writes down what it is told: of a line the first word, of a sample nothing.
class NotingObserver : public Observer {
 public:
  void log(const std::string& line) override {
    if (!line.starts_with(' ')) notes += line.substr(0, line.find(' ')) + "\n";
  }
  void step(const StepRecord& record, int64_t planned_steps, double seconds_left) override {
    notes += fmt::format("step {} of {}\n", record.step, planned_steps);
    EXPECT_GE(seconds_left, 0);
  }
  void validation(const Trainer& trainer) override {
    notes += fmt::format("validation after {}\n", trainer.history().validations.back().step);
  }

  std::string notes;
};

TEST(Trainer, TellsItsObserverWhatHappensInOrder) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 3;
  config.run.average = 0;
  config.validation.eval_steps = 2;
  NotingObserver observer;
  const auto task = prepare_task(config, {}, observer);
  EXPECT_EQ(observer.notes, "vocabulary:\ntraining\nvalidation\n");
  observer.notes.clear();
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), observer, {});
  trainer.run();
  EXPECT_EQ(observer.notes,
            "model:\nstep 1 of 3\nstep 2 of 3\nstep\nvalidation after 2\n"
            "step 3 of 3\nstep\nvalidation after 3\ndone\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(Trainer, CanBeResumedAfterBeingKilledAtAnyMoment) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 100000;
  config.validation.eval_steps = 2;
  const Threads one(1);  // a forked child has only its own thread
  for (int round = 0; round < 4; ++round) {
    const bool resume = path_exists(folder / "out/last/training.json");
    const pid_t child = fork();
    if (child == 0) {
      try {
        train(config, folder, "out", {.resume = resume});
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1500 + 137 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  }
  EXPECT_EQ(train(config, folder, "out", {.resume = true, .stop_requested = stop_after(1)}),
            Trainer::Outcome::stopped);
}

TEST(Trainer, ANanLossStopsTheRunAndKeepsTheLastCheckpoint) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  const TrainConfig config = testing::tiny_config(folder);
  const auto task = testing::task_of(config);
  testing::SessionObserver observer({.after_validation = [](const Trainer& t) {
    // As after a bad batch or a faulty kernel.
    const_cast<model::Transformer&>(t.model())
        .parameters()
        .named("final_logits_bias")
        .value.data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  }});
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), observer, {});
  const std::string error = error_of([&] { trainer.run(); });
  EXPECT_NE(error.find("the loss is nan"), std::string::npos) << error;
}

TEST(Trainer, RefusesToOverwriteARunAndToResumeWithoutACheckpoint) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 2;
  EXPECT_NE(error_of([&] { train(config, folder, "out", {.resume = true}); }), "");
  train(config, folder, "out", {});
  EXPECT_NE(error_of([&] { train(config, folder, "out", {}); }).find("--resume"),
            std::string::npos);
}

TEST(Trainer, ReportsTheDamagedFileOfACheckpoint) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  train(config, folder, "out", {.stop_requested = stop_after(3)});
  const auto last = folder / "out" / "last";
  const std::string weights = read_file(last / "model.safetensors");
  write_file_atomically(last / "model.safetensors", weights.substr(0, weights.size() / 2));
  EXPECT_NE(
      error_of([&] { train(config, folder, "out", {.resume = true}); }).find("model.safetensors"),
      std::string::npos);
  write_file_atomically(last / "model.safetensors", weights);
  write_file_atomically(last / "training.json", "{\"step\": \"three\"}");
  EXPECT_NE(error_of([&] { train(config, folder, "out", {.resume = true}); }).find("training.json"),
            std::string::npos);
}

TEST(Outliers, DetectASingleSpike) {
  Outliers outliers(0.1);
  const CounterRandom random(1);
  for (uint64_t i = 0; i < 300; ++i) outliers.add(3.0 + 0.1 * random.normal(i));
  EXPECT_LT(std::abs(outliers.z_score(3.2)), 4);
  EXPECT_GT(outliers.z_score(6.0), 8);
  EXPECT_EQ(Outliers(0.1).z_score(1e9), 0);
}

TEST(Outliers, LeaveBatchesThatAreMerelyHard) {
  TrainingState state;
  const CounterRandom random(1);
  for (uint64_t i = 0; i < 300; ++i) {
    state.losses.add(2.4 + 0.05 * random.normal(i));
    state.gradient_norms.add(0.8 + 0.05 * random.normal(300 + i));
  }
  EXPECT_LT(state.losses.z_score(3.1), 8);
  EXPECT_LT(state.gradient_norms.z_score(2.9), 8);
  EXPECT_GT(state.losses.z_score(5.0), 8);
  EXPECT_GT(state.gradient_norms.z_score(5.0), 8);
}

TEST(Schedule, FollowsItsFormulas) {
  const Schedule paper{ScheduleKind::inverse_sqrt, 7e-4, 4000, 0};
  EXPECT_DOUBLE_EQ(paper.at(2000), 3.5e-4);
  EXPECT_DOUBLE_EQ(paper.at(4000), 7e-4);
  EXPECT_DOUBLE_EQ(paper.at(16000), 3.5e-4);
  const Schedule linear{ScheduleKind::linear, 1.0, 10, 110};
  EXPECT_DOUBLE_EQ(linear.at(60), 0.5);
  EXPECT_DOUBLE_EQ(linear.at(110), 0.0);
  const Schedule cosine{ScheduleKind::cosine, 1.0, 10, 110};
  EXPECT_NEAR(cosine.at(60), 0.5, 1e-12);
  EXPECT_NEAR(cosine.at(110), 0.0, 1e-12);
  const Schedule floored{ScheduleKind::cosine, 2.0, 10, 110, 0.1};
  EXPECT_NEAR(floored.at(60), 1.1, 1e-12);
  EXPECT_NEAR(floored.at(110), 0.2, 1e-12);
  EXPECT_DOUBLE_EQ((Schedule{ScheduleKind::constant, 1.0, 10, 0}).at(99), 1.0);
}

TEST(Schedule, WarmsUpForAFractionOfAllSteps) {
  OptimizerConfig config;
  config.learning_rate = 1;
  config.warmup_steps = 4000;
  config.warmup_ratio = 0.1;
  config.lr_scheduler_type = ScheduleKind::linear;
  EXPECT_DOUBLE_EQ(config.schedule(1000).at(50), 0.5);
  EXPECT_DOUBLE_EQ(config.schedule(1000).at(100), 1);
  EXPECT_DOUBLE_EQ(config.schedule(1000).at(550), 0.5);
  EXPECT_LT(config.schedule(0).at(10), 1e-12);
}

}  // namespace
}  // namespace heed::train
