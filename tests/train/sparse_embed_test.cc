// Training models that make sparse vectors of texts (SPLADE).
#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/tasks/sparse_embedder.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/losses/pooled_texts.h"
#include "tests/train/embed_run.h"

namespace heed::train {
namespace {

using testing::train;

TrainConfig sparse_config(const TemporaryDirectory& folder) {
  TrainConfig config = testing::embed_config(folder);
  config.model.head_transform = config.model.has_head = config.model.head_bias = true;
  config.embed.vectors = EmbedVectors::sparse;
  config.run.token_budget = 96;
  config.run.gradient_accumulation_steps = 3;
  config.run.max_steps = 30;
  config.validation.eval_steps = 10;
  return config;
}

TEST(SparseTraining, LearnsAndResumesToTheSameBits) {
  const TemporaryDirectory folder;
  const TrainConfig config = sparse_config(folder);
  const auto steps = testing::expect_same_bits_resumed(
      config, folder, {"model.safetensors", "last/optimizer.safetensors", "modules.json"});
  EXPECT_LT(steps.back().loss, steps.front().loss);
}

TEST(SparseTraining, HasTheSameBitsOnAnyNumberOfRanks) {
  const TemporaryDirectory folder;
  testing::expect_same_bits_on_ranks(sparse_config(folder), folder,
                                     {"model.safetensors", "last/optimizer.safetensors"});
}

TEST(SparseTraining, GivesTheVectorsThatItsFilesSay) {
  const TemporaryDirectory folder;
  TrainConfig config = sparse_config(folder);
  config.embed.query_prompt = "find: ";
  config.run.max_steps = 3;
  train(config, folder, "out");
  const auto options = tasks::read_embedder_options(folder / "out");
  ASSERT_TRUE(options.splade.has_value());
  EXPECT_TRUE(options.pooling.empty());
  EXPECT_EQ(options.prompts.at("query"), "find: ");
  // A run that goes on from it takes all that from its files.
  config.from = (folder / "out").string();
  config.embed.vectors = EmbedVectors::model;
  config.embed.query_prompt.clear();
  read_initial_config(config);
  const auto task = testing::task_of(config, config.from);
  const auto model = checkpoint::load_model(folder / "out");
  const data::Batch batch = task->valid().batch(std::vector<int64_t>{0}, 0);
  Context context;
  const Tensor vectors = pooled_texts(*model, context, batch);
  const tasks::SparseEmbedder embedder(*model, text::read_tokenizer(folder / "out"), options);
  const std::vector<int32_t> own(batch.source.begin() + batch.source_offsets[1],
                                 batch.source.begin() + batch.source_offsets[2]);
  const SparseEmbedding found =
      embedder.embed({text::read_tokenizer(folder / "out").decode(own, true)})[0];
  ASSERT_FALSE(found.indices.empty());
  int64_t active = 0;
  for (const float x : vectors.row_slice(1, 2).values<float>()) active += x > 0 ? 1 : 0;
  ASSERT_EQ(active, std::ssize(found.indices));
  for (size_t i = 0; i < found.indices.size(); ++i)
    EXPECT_NEAR(found.values[i], vectors.row_slice(1, 2).data<float>()[found.indices[i]], 1e-5);
}

TEST(SparseTraining, IsSparserWithALargerWeight) {
  std::vector<double> active;
  for (const double weight : {0.0, 0.3}) {
    const TemporaryDirectory folder;
    TrainConfig config = sparse_config(folder);
    config.embed.query_flops = config.embed.document_flops = weight;
    const auto prepared = testing::task_of(config);
    Observer silent;
    Trainer trainer(config, *prepared, RunDirectory::begin(folder / "out"), silent, {});
    trainer.run();
    active.push_back(trainer.history().validations.back().metrics.at("document_active_dims"));
  }
  EXPECT_LT(active[1], active[0]);
}

TEST(SparseTraining, SaysWhatItNeeds) {
  const TemporaryDirectory folder;
  TrainConfig config = sparse_config(folder);
  config.embed.loss = data::VectorLoss::cosine;
  expect_error([&] { testing::task_of(config); },
               "sparse vectors are trained with the losses infonce, margin-mse and kl-divergence");
  config = sparse_config(folder);
  config.embed.matryoshka_dims = {8};
  expect_error([&] { testing::task_of(config); }, "is for dense vectors");
  config = sparse_config(folder);
  config.model.head_transform = config.model.has_head = config.model.head_bias = false;
  expect_error([&] { testing::task_of(config); }, "the head of a masked language model");
}

}  // namespace
}  // namespace heed::train
