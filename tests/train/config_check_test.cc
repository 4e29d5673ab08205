#include <gtest/gtest.h>

#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/config/config.h"
#include "heed/train/tasks/task.h"
#include "tests/base/testing.h"
#include "tests/train/language_run.h"

namespace heed::train {
namespace {

struct Refusal {
  std::string preset;
  std::vector<std::string> settings;
  std::string reason;
};

void expect_refused(const Refusal& refusal) {
  TrainConfig config;
  read_toml(config, preset(refusal.preset), refusal.preset);
  EXPECT_NO_THROW(config.validate()) << refusal.preset;
  for (const std::string& setting : refusal.settings) set_field(config, setting);
  SCOPED_TRACE(refusal.settings.front());
  expect_error([&] { config.validate(); }, refusal.reason);
}

TEST(ConfigCheck, RejectsAModelThatItsFamilyCannotExpress) {
  for (const std::string setting :
       {"use_qk_norm=true", "norm_placement=post", "final_logit_softcapping=30.0",
        "position_embedding_type=learned", "windows=[8, 8, 8, 8]", "is_gated_act=false"})
    expect_refused({"llama-tiny",
                    {"model." + setting},
                    fmt::format("the family llama cannot express this configuration: {} is",
                                setting.substr(0, setting.find('=')))});
  expect_refused({"bert-tiny",
                  {"model.is_gated_act=true"},
                  "the family bert cannot express this configuration"});
  expect_refused(
      {"bert-tiny", {"model.norm=rms"}, "the family bert cannot express this configuration"});
  expect_refused(
      {"t5-tiny", {"model.qkv_bias=true"}, "the family t5 cannot express this configuration"});
  expect_refused(
      {"tiny", {"model.family=gpt2"}, "the family gpt2 cannot express this configuration"});
  expect_refused({"tiny", {"model.family=x"}, "model_type is \"x\", expected one of marian"});
}

TEST(ConfigCheck, AcceptsWhatTheFamilyCanExpress) {
  for (const auto& [preset_name, setting] :
       {std::pair{"llama-tiny", "model.num_key_value_heads=1"},
        {"llama-tiny", "model.family=qwen3\nmodel.use_qk_norm=true"},
        {"bert-tiny", "model.hidden_act=relu"},
        {"tiny", "model.norm_placement=pre"}}) {
    TrainConfig config;
    read_toml(config, preset(preset_name), preset_name);
    std::istringstream settings(setting);
    for (std::string line; std::getline(settings, line);) set_field(config, line);
    EXPECT_NO_THROW(config.validate()) << setting;
  }
}

TEST(ConfigCheck, RejectsInconsistentSizes) {
  expect_refused({"llama-tiny",
                  {"model.head_dim=3"},
                  "head_dim is 3, of which 3 columns are rotated, expected an even number"});
  expect_refused({"bert-tiny", {"run.context=2"}, "expected more than the 2 special tokens"});
  expect_refused({"tiny", {"run.context=5000"}, "run.context is 5000"});
}

TEST(ConfigCheck, RejectsWhatWouldFailAtTheFirstValidation) {
  for (const char* beam : {"0", "257", "1000", "9223372036854775807"})
    expect_refused(
        {"tiny", {fmt::format("validation.num_beams={}", beam)}, "validation.num_beams is"});
  expect_refused({"tiny", {"validation.samples=-1"}, "validation.samples is -1"});
  expect_refused({"tiny",
                  {"validation.early_stopping_patience=-1"},
                  "validation.early_stopping_patience is -1"});
  expect_refused({"tiny", {"model.attn_logit_softcapping=1e300"}, "attn_logit_softcapping is inf"});
}

TEST(ConfigCheck, RejectsNumbersThatWouldDamageTheWeights) {
  for (const char* number : {"nan", "inf", "1e300", "-1.0"}) {
    expect_refused({"tiny", {fmt::format("optimizer.learning_rate={}", number)}, "learning_rate"});
    expect_refused({"tiny", {fmt::format("optimizer.weight_decay={}", number)}, "weight_decay"});
    expect_refused(
        {"tiny", {fmt::format("optimizer.adam_epsilon={}", number)}, "optimizer.adam_epsilon"});
  }
  // Rounded to f32, each of these is 1.
  for (const char* key :
       {"adam_beta1", "adam_beta2", "soap_beta1", "soap_beta2", "label_smoothing_factor"})
    expect_refused({"tiny",
                    {fmt::format("optimizer.{}=0.9999999999", key)},
                    fmt::format("optimizer.{} is 0.9999999999", key)});
  for (const char* key : {"soap_frequency", "soap_max_dim"})
    expect_refused({"tiny",
                    {fmt::format("optimizer.{}=0", key)},
                    fmt::format("optimizer.{} is 0, expected at least 1", key)});
}

TEST(ConfigCheck, RejectsNumbersThatWouldOverflow) {
  for (const char* setting :
       {"run.num_train_epochs=4611686018427387904",
        "run.gradient_accumulation_steps=4611686018427387904", "run.token_budget=4294967296",
        "run.max_steps=4611686018427387904", "run.minutes=1e17", "run.minutes=inf",
        "run.minutes=nan", "vocabulary.size=4294967296"})
    expect_refused(
        {"tiny", {setting}, std::string(setting).substr(0, std::string(setting).find('='))});
}

TEST(ConfigCheck, RejectsKeysThatContradictEachOther) {
  expect_refused({"tiny", {"data.text=x"}, "data.text is for language models"});
  expect_refused({"llama-tiny", {"data.valid_source=x"}, "data.valid_source is for pairs"});
  expect_refused({"tiny", {"data.tsv=x", "data.source=x"}, "both given"});
  expect_refused({"tiny", {"data.valid_source=x"}, "only one of data.valid_source and"});
  expect_refused({"llama-tiny", {"vocabulary.kind=unigram"}, "learns a bpe vocabulary"});
  expect_refused({"llama-tiny", {"vocabulary.model=x"}, "learns a bpe vocabulary"});
  expect_refused(
      {"llama-tiny", {"vocabulary.size=259"}, "vocabulary.size is 259, expected at least 260"});
}

TEST(ConfigCheck, RejectsUnknownNames) {
  expect_refused(
      {"tiny", {"run.compute=f16"}, "run.compute is \"f16\", expected auto, f32 or bf16"});
  expect_refused({"tiny",
                  {"distributed.backend=tcp"},
                  "distributed.backend is \"tcp\", expected mpi or nccl"});
}

TEST(ConfigCheck, RejectsValuesThatConfigTomlCannotHold) {
  TrainConfig config;
  config.run.max_steps = 1;
  config.data.source = "caf\xe9.txt";
  expect_error([&] { config.validate(); }, "data.source is \"caf");
  config.data.source = "a \"quoted\" \\ name\n";
  EXPECT_NO_THROW(config.validate());
  config.run.seed = uint64_t{1} << 63;
  expect_error([&] { config.validate(); }, "run.seed is 9223372036854775808, expected at most");
}

TEST(ConfigCheck, RunsBeforeAnyTextIsRead) {
  const TemporaryDirectory folder;
  TrainConfig config = testing::causal_config(folder);  // there is no text
  config.model.qk_norm = true;
  expect_error([&] { testing::task_of(config); },
               "the family llama cannot express this configuration");
}

TEST(CheckInitialWeights, RejectsUnusableWordVectors) {
  const TemporaryDirectory folder;
  TrainConfig config = testing::tiny_config(folder);
  EXPECT_NO_THROW(check_initial_weights(config));
  config.vocabulary.word_vectors = (folder / "vectors").string();
  expect_error([&] { check_initial_weights(config); }, "No such file");
  write_quickly(folder / "vectors", "one 1 2 3\ntwo 4 5 6\n");
  expect_error([&] { check_initial_weights(config); },
               "the vectors have 3 dimensions, d_model is 16");
  config.model.d_model = 3;
  EXPECT_NO_THROW(check_initial_weights(config));
}

TEST(ReadInitialConfig, RejectsAFile) {
  const TemporaryDirectory folder;
  TrainConfig config;
  write_quickly(folder / "model.gguf", "GGUF");
  config.from = (folder / "model.gguf").string();
  expect_error([&] { read_initial_config(config); }, "is a file, expected a model directory");
}

}  // namespace
}  // namespace heed::train
