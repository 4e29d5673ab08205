#include "heed/train.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

/// A run of a small language model in `folder` / `out`.
TrainOptions tiny_run(const TemporaryDirectory& folder, const std::string& out) {
  std::string text;
  for (int line = 0; line < 200; ++line) text += "the old man and the sea\n";
  write_quickly(folder / "text", text);
  return {.out = folder / out,
          .preset = "llama-tiny",
          .config =
              "[model]\nd_model = 16\nnum_attention_heads = 2\nnum_key_value_heads = 2\nd_ff = 32\n"
              "decoder_layers = 1\nmax_position_embeddings = 64\n"
              "[run]\nminutes = 0\nmax_steps = 12\ntoken_budget = 128\ncompute = \"f32\"\naverage "
              "= 2\n",
          .assignments = {"run.task=causal-lm", "data.text=" + (folder / "text").string(),
                          "vocabulary.size=270", "validation.eval_steps=6"}};
}

TEST(TrainModel, TellsItsCallbacksAndWritesAModelAndAReport) {
  const TemporaryDirectory folder;
  std::vector<int64_t> steps, validations;
  std::string log;
  const TrainResult result = train_model(
      tiny_run(folder, "out"), {.on_log = [&](std::string_view line) { log += line; },
                                .on_step =
                                    [&](const StepRecord& step, int64_t planned_steps, double) {
                                      EXPECT_EQ(planned_steps, 12);
                                      EXPECT_GT(step.loss, 0);
                                      steps.push_back(step.step);
                                    },
                                .on_validation =
                                    [&](const ValidationRecord& validation) {
                                      EXPECT_GT(validation.perplexity, 1);
                                      validations.push_back(validation.step);
                                    }});
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(validations.front(), 6);
  EXPECT_NE(log.find("max_steps = 12"), std::string::npos) << log;
  EXPECT_NE(read_file(result.report).find("<html"), std::string::npos);
  EXPECT_EQ(Model::load(result.model).family(), "llama");
}

TEST(TrainModel, AStoppedAndResumedRunEndsWithTheSameBits) {
  const TemporaryDirectory folder;
  train_model(tiny_run(folder, "whole"));
  const TrainOptions first = tiny_run(folder, "parts");
  int64_t taken = 0;
  EXPECT_FALSE(train_model(first, {.stop_requested = [&] { return ++taken == 7; }}).finished);
  EXPECT_EQ(taken, 7);
  EXPECT_TRUE(train_model({.out = first.out, .resume = true}).finished);
  for (const char* file : {"model.safetensors", "last/model.safetensors"})
    EXPECT_EQ(read_file(folder / "whole" / file), read_file(folder / "parts" / file)) << file;
}

TEST(TrainModel, StopsAfterTheStepWhoseCallbackAsksForIt) {
  const TemporaryDirectory folder;
  bool asked = false;
  int64_t last = 0;
  train_model(tiny_run(folder, "out"), {.on_step =
                                            [&](const StepRecord& step, int64_t, double) {
                                              last = step.step;
                                              asked = last == 3;
                                            },
                                        .stop_requested = [&] { return asked; }});
  EXPECT_EQ(last, 3);
}

TEST(TrainModel, AnExceptionOfACallbackSavesTheRunAndReachesTheCaller) {
  const TemporaryDirectory folder;
  const TrainOptions options = tiny_run(folder, "out");
  const auto fail = [](const auto&...) { throw std::out_of_range("mine"); };
  for (const TrainCallbacks& callbacks :
       {TrainCallbacks{.on_step = fail}, {.on_validation = fail}, {.stop_requested = [&] {
          fail();
          return false;
        }}}) {
    remove_tree(options.out);
    EXPECT_THROW(train_model(options, callbacks), std::out_of_range);
    EXPECT_TRUE(train_model({.out = options.out, .resume = true}).finished);
  }
  remove_tree(options.out);
  EXPECT_THROW(train_model(options, {.on_log = fail}), std::out_of_range);
}

TEST(TrainModel, ChoosesThePresetByTaskTextAndModel) {
  const TemporaryDirectory folder;
  write_quickly(folder / "s", "a b\n");
  const std::string s = (folder / "s").string(), small = std::string(models().decoder());
  const auto config = [](std::vector<std::string> assignments, const std::string& text = "") {
    return training_config({.config = text, .assignments = std::move(assignments)});
  };
  const auto preset = [](const std::string& name) { return training_config({.preset = name}); };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(config({}), preset("small"));
  EXPECT_EQ(config({"run.task=causal-lm"}), preset("llama-tiny"));
  EXPECT_EQ(config({"run.task=masked-lm"}), preset("bert-tiny"));
  EXPECT_EQ(config({}, "[run]\ntask = \"text-to-text\""), preset("t5-tiny"));
  const auto model_part = [](const std::string& text) {
    return text.substr(text.find("[model]"), text.find("[optimizer]") - text.find("[model]"));
  };
  EXPECT_EQ(model_part(config({"data.source=" + s, "data.target=" + s})),
            model_part(preset("tiny")));
  const std::string tuned = config({"run.task=causal-lm", "model.from=" + small});
  EXPECT_TRUE(has(tuned, "d_model = 64")) << tuned;
  EXPECT_TRUE(has(tuned, "learning_rate = 0.0001") || has(tuned, "learning_rate = 2e-05") ||
              has(tuned, "learning_rate = 5e-05"))
      << tuned;
  EXPECT_TRUE(has(config({"run.task=causal-lm", "lora.enabled=true", "model.from=" + small}),
                  "enabled = true"));
}

TEST(TrainModel, RefusesAWrongConfigurationAndMakesNoDirectory) {
  const TemporaryDirectory folder;
  const auto refused = [&](TrainOptions options, const char* message) {
    expect_error([&] { train_model(options); }, message);
    EXPECT_FALSE(path_exists(folder / "out")) << message;
  };
  TrainOptions options = tiny_run(folder, "out");
  options.config_name = "mine.toml";
  options.config += "[run";
  refused(options, "mine.toml:14: ");
  options = tiny_run(folder, "out");
  options.assignments.push_back("run.max_stepps=3");
  refused(options, "did you mean run.max_steps?");
  options.preset = "gigantic";
  refused(options, "gigantic");
  options = tiny_run(folder, "out");
  options.assignments.push_back("data.text=/absent");
  refused(options, "/absent");
  options.resume = true;
  refused(options, "has no checkpoint to resume from");
  refused({}, "no directory for the run is given");
}

}  // namespace
}  // namespace heed::engine
