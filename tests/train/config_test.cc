#include "heed/train/config/config.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::train {
namespace {

std::string error_of_config(const std::string& toml) {
  TrainConfig config;
  try {
    read_toml(config, toml, "c.toml");
    config.validate();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Config, RoundTripsThroughToml) {
  TrainConfig config;
  config.model.d_model = 384;
  config.model.norm_placement = nn::NormPlacement::pre;
  config.model.activation = kernels::Activation::silu;
  config.optimizer.learning_rate = 1.25e-3;
  config.optimizer.lr_scheduler_type = ScheduleKind::cosine;
  config.data.source = "a \"quoted\" \\ name";
  config.run.max_steps = 7;
  TrainConfig again;
  read_toml(again, write_toml(config), "c.toml");
  EXPECT_EQ(write_toml(again), write_toml(config));
  EXPECT_EQ(again.data.source, config.data.source);
  EXPECT_EQ(again.optimizer.learning_rate, 1.25e-3);
}

TEST(Config, ReportsAMisspeltKeyAndTheNearestOne) {
  EXPECT_EQ(error_of_config("[model]\nd_modle = 3\n"),
            "c.toml:2: there is no key model.d_modle; did you mean model.d_model?");
  EXPECT_EQ(error_of_config("[modell]\nd_model = 3\n"),
            "c.toml:2: there is no key modell.d_model; did you mean model.d_model?");
}

TEST(Config, RejectsARenamedKeyAndReportsTheNewName) {
  EXPECT_EQ(error_of_config("[model]\nn_heads = 3\n"),
            "c.toml:2: model.n_heads is called model.num_attention_heads now");
  EXPECT_EQ(error_of_config("[run]\nsteps = 3\n"),
            "c.toml:2: run.steps is called run.max_steps now");
}

TEST(Config, AcceptsRenamedKeysInTheFileOfAnOlderRun) {
  TrainConfig config;
  read_toml(config, "[model]\nn_heads = 16\n[optimizer]\nwarmup = 7\n", "c.toml",
            FormerKeys::accepted);
  EXPECT_EQ(config.model.n_heads, 16);
  EXPECT_EQ(config.optimizer.warmup_steps, 7);
}

TEST(Config, ReportsAValueOfTheWrongType) {
  EXPECT_EQ(error_of_config("[model]\nd_model = \"wide\"\n"),
            "c.toml:2: model.d_model is 'wide', expected an integer");
  EXPECT_EQ(error_of_config("[model]\nis_gated_act = 1\n"),
            "c.toml:2: model.is_gated_act is 1, expected true or false");
  EXPECT_NE(error_of_config("[optimizer]\nlr_scheduler_type = \"square\"\n")
                .find("expected one of inverse_sqrt"),
            std::string::npos);
  EXPECT_NE(error_of_config("[model]\nd_model = 3.5\n"), "");
  EXPECT_NE(error_of_config("[model]\nd_model = 99999999999999999999\n"), "");
}

TEST(Config, ReportsTheLineOfASyntaxError) {
  EXPECT_EQ(error_of_config("[model]\nd_model = = 3\n").substr(0, 9), "c.toml:2:");
  EXPECT_EQ(error_of_config("d_model = 3\n"), "c.toml:1: d_model is outside of any [section]");
}

TEST(Config, RejectsARunWithoutAnEnd) {
  EXPECT_NE(error_of_config("[run]\nmax_steps = 0\n").find("nothing would end the run"),
            std::string::npos);
  EXPECT_EQ(error_of_config("[run]\nmax_steps = 1\n"), "");
}

TEST(Config, SetsASingleField) {
  TrainConfig config;
  set_field(config, "model.d_model=96");
  set_field(config, "optimizer.lr_scheduler_type=cosine");
  set_field(config, "data.source=some/file.en");
  EXPECT_EQ(config.model.d_model, 96);
  EXPECT_EQ(config.optimizer.lr_scheduler_type, ScheduleKind::cosine);
  EXPECT_EQ(config.data.source, "some/file.en");
  EXPECT_THROW(set_field(config, "d_model=96"), Error);
  EXPECT_THROW(set_field(config, "model.d_model"), Error);
}

TEST(Config, PresetsAreValidAndBaseHasThePapersSizes) {
  for (const std::string& name : preset_names()) {
    TrainConfig config;
    read_toml(config, preset(name), name);
    EXPECT_NO_THROW(config.validate()) << name;
    if (name != "base") continue;
    config.model.vocab_size = config.vocabulary.size;
    config.model.validate();  // replaces 0 by defaults
    EXPECT_EQ(config.model.d_model, 512);
    EXPECT_EQ(config.model.head_dim, 64);
    EXPECT_EQ(config.model.d_ff, 2048);
    EXPECT_EQ(config.model.encoder_layers, 6);
  }
}

TEST(Config, RejectsResumingWithAnotherModel) {
  TrainConfig saved;
  TrainConfig requested = saved;
  requested.run.minutes = 99;
  requested.validation.eval_steps = 3;
  requested.distributed.backend = "nccl";
  EXPECT_NO_THROW(require_same_run(saved, requested, "c.toml"));
  requested.model.d_model = 1024;
  EXPECT_THROW(require_same_run(saved, requested, "c.toml"), Error);
}

}  // namespace
}  // namespace heed::train
