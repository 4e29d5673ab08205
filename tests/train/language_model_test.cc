#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <thread>

#include "heed/base/error.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/tasks/vocabulary.h"
#include "tests/base/threads.h"
#include "tests/train/language_run.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

/// Properties of all tasks for language models.
class LanguageModel : public ::testing::TestWithParam<TaskKind> {
 protected:
  LanguageModel() {
    testing::write_book(folder_);
    config_ = GetParam() == TaskKind::causal_lm ? testing::causal_config(folder_)
                                                : testing::masked_config(folder_);
  }

  TemporaryDirectory folder_;
  TrainConfig config_;
};

TEST_P(LanguageModel, ResumingGivesTheSameBits) {
  config_.run.gradient_accumulation_steps = 2;
  config_.optimizer.lr_scheduler_type = ScheduleKind::cosine;
  config_.optimizer.weight_decay = 0.1;
  EXPECT_EQ(train(config_, folder_, "whole"), Trainer::Outcome::finished);
  EXPECT_EQ(train(config_, folder_, "parts", {.stop_requested = stop_after(5)}),
            Trainer::Outcome::stopped);
  EXPECT_EQ(train(config_, folder_, "parts", {.resume = true, .stop_requested = stop_after(3)}),
            Trainer::Outcome::stopped);
  EXPECT_EQ(train(config_, folder_, "parts", {.resume = true, .stop_requested = stop_after(6)}),
            Trainer::Outcome::stopped);
  EXPECT_EQ(train(config_, folder_, "parts", {.resume = true}), Trainer::Outcome::finished);
  for (const char* file : {"last/model.safetensors", "last/optimizer.safetensors",
                           "model.safetensors", "config.json", "tokenizer.json"})
    EXPECT_EQ(read_file(folder_ / "whole" / file), read_file(folder_ / "parts" / file)) << file;
}

TEST_P(LanguageModel, CanBeResumedAfterBeingKilledAtAnyMoment) {
  config_.run.max_steps = 100000;
  config_.validation.eval_steps = 2;
  const Threads one(1);  // a forked child has only its own thread
  for (int round = 0; round < 2; ++round) {
    const bool resume = path_exists(folder_ / "out/last/training.json");
    const pid_t child = fork();
    if (child == 0) {
      try {
        train(config_, folder_, "out", {.resume = resume});
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    for (int wait = 0; wait < 600 && !path_exists(folder_ / "out/last/training.json"); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::this_thread::sleep_for(std::chrono::milliseconds(400 + 137 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  }
  EXPECT_EQ(train(config_, folder_, "out", {.resume = true, .stop_requested = stop_after(1)}),
            Trainer::Outcome::stopped);
}

TEST_P(LanguageModel, ValidatesWhenAResumedRunEndsAtOnce) {
  train(config_, folder_, "out", {.stop_requested = stop_after(3)});
  EXPECT_FALSE(path_exists(folder_ / "out" / "model.safetensors"));
  config_.run.max_steps = 3;
  EXPECT_EQ(train(config_, folder_, "out", {.resume = true}), Trainer::Outcome::finished);
  EXPECT_TRUE(path_exists(folder_ / "out" / "model.safetensors"));
}

TEST_P(LanguageModel, FineTunesAnotherModel) {
  train(config_, folder_, "first");
  config_.from = (folder_ / "first").string();
  read_initial_config(config_);
  config_.run.max_steps = 1;
  config_.optimizer.learning_rate = 0;
  EXPECT_EQ(train(config_, folder_, "second"), Trainer::Outcome::finished);
  EXPECT_EQ(read_file(folder_ / "first" / "model.safetensors"),
            read_file(folder_ / "second" / "model.safetensors"));
  EXPECT_EQ(read_file(folder_ / "first" / "tokenizer.json"),
            read_file(folder_ / "second" / "tokenizer.json"));
}

// A piece without a row is refused where it occurs.
TEST_P(LanguageModel, TakesATokenizerLargerThanTheEmbedding) {
  train(config_, folder_, "small");
  testing::write_book(folder_);
  config_.vocabulary.size += 6;
  train(config_, folder_, "large");
  std::filesystem::copy_file(folder_ / "large" / "tokenizer.json",
                             folder_ / "small" / "tokenizer.json",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(error_of([&] { testing::task_of(config_, folder_ / "small"); }), "no error");
}

TEST_P(LanguageModel, RejectsTextThatIsMissingOrOfAnotherKind) {
  config_.data.text.clear();
  EXPECT_NE(error_of([&] { testing::task_of(config_); }).find("give data.text"), std::string::npos);
  config_.data.tsv = "pairs.tsv";
  EXPECT_NE(error_of([&] { testing::task_of(config_); }).find("for pairs"), std::string::npos);
}

TEST_P(LanguageModel, RestoresItsHistoryWhenResumed) {
  train(config_, folder_, "out", {.stop_requested = stop_after(17)});
  const auto task = testing::task_of(config_);
  const MetricsLog log(folder_ / "out" / "metrics.jsonl", 17, task->sample_names());
  ASSERT_EQ(log.history().validations.size(), 2u);
  EXPECT_EQ(log.history().steps.size(), 17u);
  EXPECT_GE(log.history().validations[1].samples.size(), 1u);
  EXPECT_FALSE(log.history().validations[1].bleu.has_value());
  EXPECT_GT(log.history().validations[1].perplexity, 1);
}

INSTANTIATE_TEST_SUITE_P(Tasks, LanguageModel,
                         ::testing::Values(TaskKind::causal_lm, TaskKind::masked_lm),
                         [](const auto& parameter) {
                           return parameter.param == TaskKind::causal_lm ? "Causal" : "Masked";
                         });

TEST(CausalModel, MemorisesAShortText) {
  const TemporaryDirectory folder;
  testing::write_book(folder, 16);
  TrainConfig config = testing::causal_config(folder);
  config.model.d_model = 32;
  config.model.d_ff = 64;
  config.model.dropout = 0;
  config.data.valid_text = config.data.text;  // validates on the training text
  config.run.context = 64;
  config.run.max_steps = 250;
  config.optimizer.warmup_steps = 20;
  config.validation.eval_steps = 250;
  const auto task = testing::task_of(config);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), silent, {});
  trainer.run();
  const ValidationRecord& last = trainer.history().validations.back();
  EXPECT_LT(last.perplexity, 1.1);
  EXPECT_FALSE(last.bleu.has_value());
  ASSERT_EQ(last.samples.size(), 2u);
  EXPECT_EQ(last.samples[0].output.substr(0, 30), last.samples[0].reference.substr(0, 30));
}

TEST(MaskedModel, PredictsMaskedWordsFromTheirContext) {
  const TemporaryDirectory folder;
  testing::write_book(folder, 400);
  TrainConfig config = testing::masked_config(folder);
  config.model.d_model = 32;
  config.model.n_heads = 4;
  config.model.d_ff = 64;
  config.model.dropout = 0;
  config.data.held_out = 40;
  config.run.token_budget = 512;
  config.run.max_steps = 400;
  config.optimizer.warmup_steps = 40;
  config.validation.eval_steps = 400;
  const auto task = testing::task_of(config);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "out"), silent, {});
  trainer.run();
  const ValidationRecord& last = trainer.history().validations.back();
  EXPECT_LT(last.perplexity, 2.5);
  ASSERT_EQ(last.samples.size(), 2u);
  EXPECT_NE(last.samples[0].input.find("<mask>"), std::string::npos) << last.samples[0].input;
  EXPECT_EQ(last.samples[0].reference.find("<mask>"), std::string::npos);
}

TEST(LearnedTokenizer, EncodesEveryTextExactly) {
  const TokenizerWithFiles learned =
      learn_tokenizer({"in the beginning was the word\nand the word was"}, 300, {.begin = true});
  for (const std::string text :
       {"in the beginning", " two  spaces ", "lines\nand\n\n  indented\n", "naïve 日本 🎉", "\n"})
    EXPECT_EQ(learned.tokenizer.decode(learned.tokenizer.encode(text)), text);
  EXPECT_EQ(learned.tokenizer.encode("the").front(), 1);
  EXPECT_EQ(learned.tokenizer.encode("word").size(), learned.tokenizer.encode("x\nword").size() - 3)
      << "a word at the beginning of a line is the same piece";
  EXPECT_THROW(learn_tokenizer({"text"}, 100, {}), Error);
}

TEST(Task, RejectsModelsOfTheWrongKind) {
  const TemporaryDirectory folder;
  TrainConfig config = testing::causal_config(folder);
  config.run.task = TaskKind::masked_lm;
  EXPECT_EQ(error_of([&] { config.validate(); }),
            "the task masked-lm trains a model with an encoder, model.encoder_layers is 0");
}

TEST(TextToText, TrainsWithALearnedTokenizer) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.task = TaskKind::text_to_text;
  config.vocabulary.size = 320;
  EXPECT_EQ(train(config, folder, "whole"), Trainer::Outcome::finished);
  EXPECT_EQ(train(config, folder, "parts", {.stop_requested = stop_after(9)}),
            Trainer::Outcome::stopped);
  EXPECT_EQ(train(config, folder, "parts", {.resume = true}), Trainer::Outcome::finished);
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "parts" / "model.safetensors"));
  EXPECT_TRUE(path_exists(folder / "whole" / "tokenizer.json"));
}

TEST(TextToText, FineTunesATranslationModel) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  train(config, folder, "first");
  config.run.task = TaskKind::text_to_text;
  config.from = (folder / "first").string();
  read_initial_config(config);
  config.run.max_steps = 1;
  config.optimizer.learning_rate = 0;
  EXPECT_EQ(train(config, folder, "second"), Trainer::Outcome::finished);
  for (const char* file : {"model.safetensors", "config.json", "source.spm", "vocab.json"})
    EXPECT_EQ(read_file(folder / "first" / file), read_file(folder / "second" / file)) << file;
}

}  // namespace
}  // namespace heed::train
