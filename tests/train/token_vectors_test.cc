// Training models that make a vector of each token (ColBERT).
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/tasks/multi_vector_embedder.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/train/checkpoints/dense_modules.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/losses/max_sim.h"
#include "tests/train/embed_run.h"

namespace heed::train {
namespace {

using testing::train;

constexpr auto kFiles = {"model.safetensors", "1_Dense/model.safetensors",
                         "last/1_Dense/model.safetensors", "last/optimizer.safetensors"};

TrainConfig token_config(const TemporaryDirectory& folder) {
  TrainConfig config = testing::embed_config(folder);
  config.embed.vectors = EmbedVectors::multi_vector;
  config.embed.token_dims = 8;
  config.embed.query_expansion = 12;
  config.embed.skip_punctuation = true;
  config.run.token_budget = 128;
  config.run.gradient_accumulation_steps = 3;
  config.run.max_steps = 30;
  config.validation.eval_steps = 10;
  return config;
}

TEST(TokenVectorTraining, LearnsAndResumesToTheSameBits) {
  const TemporaryDirectory folder;
  const auto steps = testing::expect_same_bits_resumed(token_config(folder), folder, kFiles);
  EXPECT_LT(steps.back().loss, steps.front().loss);
}

TEST(TokenVectorTraining, HasTheSameBitsOnAnyNumberOfRanks) {
  const TemporaryDirectory folder;
  testing::expect_same_bits_on_ranks(token_config(folder), folder, kFiles);
}

TEST(TokenVectorTraining, GivesTheVectorsThatItsFilesSay) {
  const TemporaryDirectory folder;
  TrainConfig config = token_config(folder);
  config.run.max_steps = 3;
  train(config, folder, "out");
  auto options = tasks::read_embedder_options(folder / "out");
  ASSERT_TRUE(options.multi_vector && options.multi_vector->expansion);
  EXPECT_EQ(options.multi_vector->expansion->length, 12);
  EXPECT_EQ(options.multi_vector->skiplist.size(), 32u);
  const auto model = checkpoint::load_model(folder / "out");
  const auto embeddings_of = [&](EmbedTask task, const std::string& text) {
    tasks::EmbedderOptions own = options;
    own.apply({.task = task}, model->config().d_model);
    return tasks::MultiVectorEmbedder(*model, text::read_tokenizer(folder / "out"), own)
        .embed({text})[0];
  };
  const auto query = embeddings_of(EmbedTask::query, "one two");
  EXPECT_EQ(query.values.size(), 12u * 8u);
  EXPECT_LT(embeddings_of(EmbedTask::document, "uk, dy!").tokens.size(),
            embeddings_of(EmbedTask::query, "uk, dy!").tokens.size());
  // A run that goes on from it begins with the same projection and settings.
  config.from = (folder / "out").string();
  config.embed = {};
  config.run.max_steps = 2;
  read_initial_config(config);
  std::vector<std::string> lines;
  train(config, folder, "again", {.lines = &lines});
  for (const std::string& line : lines) EXPECT_FALSE(line.starts_with("new weights")) << line;
  EXPECT_EQ(read_file(folder / "out/sentence_bert_config.json"),
            read_file(folder / "again/sentence_bert_config.json"));
}

TEST(TokenVectorTraining, SaysWhatItDoesNotTrain) {
  const TemporaryDirectory folder;
  TrainConfig config = token_config(folder);
  config.embed.loss = data::VectorLoss::triplet;
  expect_error([&] { testing::task_of(config); },
               "multi-vector vectors are trained with the losses infonce");
  config = token_config(folder);
  config.run.max_steps = 1;
  train(config, folder, "out");
  config.from = (folder / "out").string();
  config.lora.enabled = true;
  read_initial_config(config);
  expect_error([&] { testing::task_of(config, config.from); }, "lora trains an adapter");
  config.lora.enabled = false;
  const std::string dense = read_file(folder / "out/1_Dense/config.json");
  std::string changed = dense;
  changed.replace(changed.find("false"), 5, "true");
  write_quickly(folder / "out/1_Dense/config.json", changed);
  expect_error([&] { testing::task_of(config, config.from); }, "1_Dense");
  write_quickly(folder / "out/artifact.metadata", "{}");
  expect_error([&] { testing::task_of(config, config.from); }, "Stanford");
}

TEST(MaxSim, IsTheSumOfTheLargestProducts) {
  data::TextGroups groups;
  groups.vector_offsets = {0, 2, 3, 5};
  const Tensor vectors = Tensor::of({5, 2}, std::vector<float>{1, 0, 0, 1, 2, 3, 4, 0, 1, 5});
  const MaxSim compared(groups, vectors, {0}, {1, 2});
  EXPECT_EQ(compared.scores().data<float>()[0], 5.0f);
  EXPECT_EQ(compared.scores().data<float>()[1], 9.0f);
  ComparedVectors of(vectors, 2, false);
  compared.add_gradients(Tensor::of({1, 2}, std::vector<float>{0, 1}), of);
  const std::vector<float> expected{4, 0, 1, 5, 0, 0, 1, 0, 0, 1};
  EXPECT_TRUE(std::ranges::equal(of.dx.values<float>(), expected));
}

}  // namespace
}  // namespace heed::train
