// Training embedders with Dense modules behind the pooling.
#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/embedder.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/train/embed_run.h"

namespace heed::train {
namespace {

using nlohmann::json;
using testing::train;

json module(const char* kind, const char* folder) {
  return {{"type", fmt::format("sentence_transformers.models.{}", kind)}, {"path", folder}};
}

void write_dense(const std::filesystem::path& folder, int64_t in, int64_t out, bool bias,
                 const char* activation) {
  std::filesystem::create_directories(folder);
  std::vector<io::NamedTensor> tensors{{"linear.weight", Tensor::zeros({out, in})}};
  if (bias) tensors.push_back({"linear.bias", Tensor::zeros({out})});
  for (io::NamedTensor& tensor : tensors)
    for (int64_t i = 0; i < tensor.tensor.elements(); ++i)
      tensor.tensor.data<float>()[i] = 0.01f * static_cast<float>((i * 37) % 41 - 20);
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  std::ofstream(folder / "config.json") << json{{"in_features", in},
                                                {"out_features", out},
                                                {"bias", bias},
                                                {"activation_function", activation}};
}

/// A run from an embedder with two Dense modules of other widths.
TrainConfig dense_config(const TemporaryDirectory& folder) {
  TrainConfig config = testing::embed_config(folder);
  config.run.max_steps = 1;
  train(config, folder, "start");
  const int64_t width = config.model.d_model;
  write_dense(folder / "start/2_Dense", width, 24, true, "torch.nn.modules.activation.Tanh");
  write_dense(folder / "start/3_Dense", 24, 40, false, "torch.nn.modules.linear.Identity");
  std::ofstream(folder / "start/modules.json")
      << json{module("Transformer", ""), module("Pooling", "1_Pooling"), module("Dense", "2_Dense"),
              module("Dense", "3_Dense"), module("Normalize", "4_Normalize")};
  config.from = (folder / "start").string();
  config.run.max_steps = 20;
  config.validation.eval_steps = 5;
  read_initial_config(config);
  return config;
}

constexpr auto kFiles = {"model.safetensors", "2_Dense/model.safetensors",
                         "last/3_Dense/model.safetensors", "last/optimizer.safetensors"};

TEST(DenseModules, AreTrainedAndResumedToTheSameBits) {
  const TemporaryDirectory folder;
  TrainConfig config = dense_config(folder);
  config.embed.matryoshka_dims = {40, 8};
  const auto steps = testing::expect_same_bits_resumed(config, folder, kFiles);
  EXPECT_LT(steps.back().loss, steps.front().loss);
}

TEST(DenseModules, HaveTheSameBitsOnAnyNumberOfRanks) {
  const TemporaryDirectory folder;
  testing::expect_same_bits_on_ranks(dense_config(folder), folder, kFiles);
}

TEST(DenseModules, AreKeptBesideAnAdapter) {
  const TemporaryDirectory folder;
  TrainConfig config = dense_config(folder);
  config.embed.hard_negatives = 1;
  config.run.max_steps = 2;
  config.lora = {.enabled = true, .rank = 2};
  std::vector<std::string> lines;
  train(config, folder, "adapter", {.lines = &lines});
  for (const std::string& line : lines) EXPECT_FALSE(line.starts_with("new weights")) << line;
  EXPECT_TRUE(path_exists(folder / "adapter/adapter_model.safetensors"));
}

TEST(DenseModules, ThatAreNotTrainedAreNamed) {
  const TemporaryDirectory folder;
  TrainConfig config = dense_config(folder);
  const auto error = [&](const std::string& expected) {
    expect_error([&] { testing::task_of(config, config.from); }, expected);
  };
  config.embed.matryoshka_dims = {41};
  error("embed.matryoshka_dims has 41, the vectors of the model have 40 numbers");
  config.embed.matryoshka_dims = {};
  write_dense(folder / "start/3_Dense", 24, 40, false, "torch.nn.modules.activation.Mish");
  error("3_Dense/config.json: activation_function is \"torch.nn.modules.activation.Mish\"");
  write_dense(folder / "start/3_Dense", 24, 40, false, "torch.nn.modules.linear.Identity");
  std::ofstream(folder / "start/modules.json")
      << json{module("Transformer", ""), module("Pooling", "1_Pooling"),
              module("Normalize", "4_Normalize"), module("Dense", "2_Dense")};
  error("a Dense follows Normalize");
}

}  // namespace
}  // namespace heed::train
