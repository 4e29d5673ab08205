// Training models that make vectors of texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/data/text_group_dataset.h"
#include "heed/tasks/embedder.h"
#include "heed/train/batch_loss.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/losses/vector_gradients.h"
#include "heed/train/losses/vector_loss.h"
#include "tests/ops/gradient_check.h"
#include "tests/train/embed_run.h"

namespace heed::train {
namespace {

using testing::embed_config;
using testing::train;
using testing::write_pairs;

const nlohmann::json& loss_golden() {
  static const nlohmann::json golden = parse_json(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/vector_losses/losses.json"),
      "losses.json");
  return golden;
}

data::VectorLoss loss_named(const std::string& name) {
  using enum data::VectorLoss;
  return named(name,
               std::array{infonce, cosine, cosent, triplet, margin_mse, kl_divergence, distill});
}

data::TextGroups groups_of(const nlohmann::json& one) {
  data::TextGroups groups;
  const std::string kind = one.value("kind", "dense");
  groups.options = {.loss = loss_named(one["loss"].get<std::string>()),
                    .kind = kind == "dense"    ? data::VectorKind::dense
                            : kind == "sparse" ? data::VectorKind::sparse
                                               : data::VectorKind::multi_vector,
                    .scale = one.value("scale", 20.0),
                    .margin = one.value("margin", 5.0),
                    .distance = one.value("distance", "euclidean") == "cosine"
                                    ? data::Distance::cosine
                                    : data::Distance::euclidean,
                    .temperature = one.value("temperature", 1.0),
                    .teacher_temperature = one.value("teacher_temperature", 1.0),
                    .query_flops = one.value("query_flops", 0.0),
                    .document_flops = one.value("document_flops", 0.0),
                    .dims = one["dims"].get<std::vector<int64_t>>(),
                    .dim_weights = one["weights"].get<std::vector<double>>()};
  const auto examples = loss_golden()["examples"].get<int32_t>();
  const auto columns = one["columns"].get<int32_t>();
  for (int32_t i = 0; i <= examples; ++i) groups.offsets.push_back(columns * i);
  for (int32_t i = 0; i < examples * columns; ++i) groups.texts.push_back(static_cast<uint64_t>(i));
  groups.scores = one["scores"].get<std::vector<float>>();
  groups.score_count = std::ssize(groups.scores) / examples;
  if (!one.contains("lengths")) return groups;
  groups.vector_offsets = {0};
  for (const auto& length : one["lengths"])
    groups.vector_offsets.push_back(groups.vector_offsets.back() + length.get<int32_t>());
  return groups;
}

TEST(VectorLoss, AndItsGradientAreThoseOfSentenceTransformers) {
  const auto width = loss_golden()["width"].get<int64_t>();
  for (const auto& one : loss_golden()["losses"]) {
    SCOPED_TRACE(one.value("kind", "dense") + " " + one["loss"].get<std::string>() + " of " +
                 one["columns"].dump() + " texts");
    const data::TextGroups groups = groups_of(one);
    const auto values = one["vectors"].get<std::vector<float>>();
    const Tensor vectors = Tensor::of({groups.vectors(), width}, values);
    const VectorLossResult found = vector_loss(vectors, groups);
    double mean = 0;
    for (const double loss : found.losses) mean += loss / static_cast<double>(groups.count());
    const double expected = one["value"].get<double>();
    EXPECT_NEAR(mean, expected, 1e-6 * std::max(1.0, std::abs(expected)));
    const auto gradient = one["gradient"].get<std::vector<double>>();
    ASSERT_EQ(std::ssize(gradient), found.gradient.elements());
    for (size_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(found.gradient.data<float>()[i], gradient[i],
                  1e-6 * std::max(1.0, std::abs(gradient[i])));
  }
}

TEST(VectorLoss, TakesNoEqualTextForANegative) {
  data::TextGroups groups;
  groups.options.loss = data::VectorLoss::infonce;
  groups.offsets = {0, 2, 4, 6};
  const Tensor vectors = heed::testing::random_tensor({6, 5}, 4);
  // The third example has the query of the first, the second its document.
  groups.texts = {1, 2, 3, 2, 1, 4};
  data::TextGroups alone = groups;
  alone.offsets = {0, 2};
  alone.texts = {1, 2};
  EXPECT_NEAR(vector_loss(vectors, groups).losses[0], 0, 1e-6);
  EXPECT_GT(vector_loss(vectors, groups).losses[1], 0);
}

TEST(EmbedTraining, LearnsWithEachLossAndResumesToTheSameBits) {
  using enum data::VectorLoss;
  for (const data::VectorLoss loss :
       {infonce, cosine, cosent, triplet, margin_mse, kl_divergence}) {
    SCOPED_TRACE(name_of(loss));
    const TemporaryDirectory folder;
    TrainConfig config = embed_config(folder);
    config.embed.loss = loss;
    if (loss == kl_divergence) {
      testing::write_scored_pairs(folder);
      config.embed.temperature = 0.1;
      config.embed.teacher_temperature = 2;
    }
    if (loss == triplet) {
      config.embed.distance = data::Distance::cosine;
      config.embed.margin = 0.5;
    }
    config.run.token_budget = 96;
    config.run.gradient_accumulation_steps = 3;
    config.run.max_steps = 30;
    config.validation.eval_steps = 10;
    const auto steps = testing::expect_same_bits_resumed(
        config, folder,
        {"model.safetensors", "last/model.safetensors", "modules.json", "1_Pooling/config.json"});
    EXPECT_LT(steps.back().loss, steps.front().loss);
  }
}

/// The gradients of a step of batches of these pairs.
std::vector<Tensor> step_gradients(model::Transformer& model, const data::Dataset& examples,
                                   const std::vector<std::vector<int64_t>>& batches) {
  std::vector<data::Batch> all;
  for (const auto& batch : batches) all.push_back(examples.batch(batch, 0));
  const auto gradients = make_step_gradients(model.parameters());
  gradients->accumulate(model, all, {});
  return gradients->take();
}

TEST(EmbedTraining, AStepInPartsHasTheGradientOfTheWhole) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  config.model.dropout = 0;
  const auto task = testing::task_of(config);
  model::Transformer model(task->model(), 3);
  const auto whole = step_gradients(model, task->train(), {{0, 1, 2, 3, 4, 5}});
  const auto parts = step_gradients(model, task->train(), {{0, 1}, {2, 3, 4}, {5}});
  ASSERT_EQ(whole.size(), parts.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(whole[i].defined(), parts[i].defined());
    for (int64_t k = 0; whole[i].defined() && k < whole[i].elements(); ++k)
      EXPECT_NEAR(whole[i].data<float>()[k], parts[i].data<float>()[k], 1e-5);
  }
}

TEST(EmbedTraining, HasTheSameBitsOnAnyNumberOfRanks) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  config.run.token_budget = 192;
  testing::expect_same_bits_on_ranks(config, folder,
                                     {"model.safetensors", "last/optimizer.safetensors"});
}

TEST(EmbedTraining, SavesWhatMakesTheVectors) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  config.embed.pooling = {Pooling::cls};
  config.embed.query_prompt = "find: ";
  config.embed.matryoshka_dims = {16, 8};
  config.run.max_steps = 2;
  train(config, folder, "out");
  const auto options = tasks::read_embedder_options(folder / "out");
  EXPECT_EQ(options.pooling, std::vector{Pooling::cls});
  EXPECT_TRUE(options.normalizes());
  EXPECT_EQ(options.prompts.at("query"), "find: ");
  // A run that goes on from it takes all that from its files.
  config.embed.pooling.clear();
  config.embed.query_prompt.clear();
  config.from = (folder / "out").string();
  nlohmann::json settings =
      nlohmann::json::parse(read_file(folder / "out/config_sentence_transformers.json"));
  EXPECT_EQ(settings["similarity_fn_name"], "cosine");
  settings["similarity_fn_name"] = "dot";
  std::ofstream(folder / "out/config_sentence_transformers.json") << settings;
  read_initial_config(config);
  train(config, folder, "again");
  EXPECT_EQ(tasks::read_embedder_options(folder / "again").similarity, "dot");
  EXPECT_EQ(read_file(folder / "out/1_Pooling/config.json"),
            read_file(folder / "again/1_Pooling/config.json"));
  write_quickly(folder / "out/modules.json",
                R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
                    {"type": "sentence_transformers.models.LayerNorm", "path": "2_LayerNorm"}])");
  expect_error([&] { testing::task_of(config, config.from); }, "not the module sentence_trans");
  EXPECT_EQ(tasks::read_embedder_options(folder / "again").prompts.at("query"), "find: ");
}

TEST(EmbedTraining, AdaptsADecoderWhoseLastStateIsTheVector) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  TrainConfig base = testing::causal_config(folder);
  base.run.max_steps = 2;
  train(base, folder, "base");
  TrainConfig config = embed_config(folder);
  config.from = (folder / "base").string();
  read_initial_config(config);
  config.run.max_steps = 4;
  train(config, folder, "whole");
  EXPECT_EQ(tasks::read_embedder_options(folder / "whole").pooling, std::vector{Pooling::last});
  config.lora = {.enabled = true, .rank = 2};
  train(config, folder, "adapter");
  EXPECT_TRUE(path_exists(folder / "adapter/adapter_model.safetensors"));
  config.embed.query_prompt = "find: ";
  expect_error([&] { testing::task_of(config, config.from); },
               "lora trains an adapter, which runs");
}

TEST(EmbedTraining, FindsHardNegativesThatAnswerNoEqualQuery) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  std::ofstream file(folder / "pairs.jsonl");
  for (int i = 0; i < 24; ++i)
    file << nlohmann::json{{"query", fmt::format("sun {}", i % 12)},
                           {"document", fmt::format("miz {} {}", i % 12, i / 12)}}
         << '\n';
  file.close();
  config.data.held_out = 2;
  config.run.max_steps = 2;
  config.embed.pooling = {Pooling::mean, Pooling::max};
  config.embed.hard_negatives = 3;
  config.embed.hard_negative_ratio = 2;
  expect_error([&] { config.validate(); }, "model.from names no model that finds them");
  const EmbedConfig embed = std::exchange(config.embed, {});
  train(config, folder, "base");
  config.from = (folder / "base").string();
  read_initial_config(config);
  config.embed = embed;
  const auto task = testing::task_of(config, config.from);
  std::vector<int64_t> all(static_cast<size_t>(task->train().count()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const data::TextGroups groups = task->train().batch(all, 0).groups;
  EXPECT_EQ(groups.texts.size(), all.size() * 5);
  std::map<uint64_t, std::set<uint64_t>> answers;
  for (size_t i = 0; i < groups.texts.size(); i += 5)
    answers[groups.texts[i]].insert(groups.texts[i + 1]);
  for (size_t i = 0; i < groups.texts.size(); i += 5)
    for (size_t n = 2; n < 5; ++n)
      EXPECT_FALSE(answers[groups.texts[i]].contains(groups.texts[i + n]));
}

TEST(EmbedTraining, TrainsPoolingsThatFollowOneAnother) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  config.embed.pooling = {Pooling::last, Pooling::max};  // not in the order of the files' flags
  config.run.max_steps = 2;
  train(config, folder, "out");
  const auto pooling_of = [&](const char* run) {
    return tasks::read_embedder_options(folder / run).pooling;
  };
  EXPECT_EQ(pooling_of("out"), config.embed.pooling);
  config.embed.pooling = {Pooling::max, Pooling::last};
  train(config, folder, "flags");
  EXPECT_EQ(pooling_of("flags"), config.embed.pooling);
  config.embed.pooling.clear();
  config.from = (folder / "out").string();
  read_initial_config(config);
  train(config, folder, "again");
  EXPECT_EQ(pooling_of("again"), pooling_of("out"));
}

TEST(EmbedTraining, RefusesSettingsThatHaveNoEffect) {
  const TemporaryDirectory folder;
  const auto refused = [&](const auto& change, const std::string& message) {
    TrainConfig config = embed_config(folder);
    change(config);
    expect_error(
        [&] {
          config.validate();
          testing::task_of(config);
        },
        message);
  };
  using Config = TrainConfig;
  using data::VectorLoss;
  refused([](Config& config) { config.embed.temperature = 3; },
          "embed.temperature is for embed.loss kl-divergence, and embed.loss is infonce");
  refused([](Config& config) { config.embed.margin = 3; },
          "embed.margin is for embed.loss triplet");
  refused([](Config& config) { config.embed.distance = data::Distance::cosine; },
          "embed.distance is for");
  refused([](Config& config) { config.embed.hard_negative_ratio = 0.5; },
          "embed.hard_negative_ratio is 0.5, and embed.hard_negatives asks for none");
  refused(
      [](Config& config) {
        config.embed.loss = VectorLoss::cosine;
        config.embed.query_prompt = "q: ";
      },
      "embed.query_prompt is for embed.loss infonce, triplet, margin-mse, kl-divergence, and "
      "embed.loss is cosine");
  refused(
      [](Config& config) {
        config.embed.loss = VectorLoss::triplet;
        config.embed.scale = 3;
      },
      "embed.scale is for embed.loss infonce, cosent, and embed.loss is triplet");
  refused([](Config& config) { config.embed.query_expansion = 16; },
          "embed.query_expansion is for multi-vector vectors, those of the model are dense");
  refused([](Config& config) { config.embed.document_flops = 1; },
          "embed.document_flops is for sparse vectors, those of the model are dense");
  refused(
      [](Config& config) {
        config.run.task = TaskKind::masked_lm;
        config.model.has_head = true;
        config.embed.scale = 3;
      },
      "embed has settings of the task embed, the task is masked-lm");
  refused([](Config& config) { config.rerank.loss = RerankLoss::margin_mse; },
          "rerank.loss is for the task rerank, the task is embed");
  refused([](Config& config) { config.preference.beta = 1; },
          "preference.beta is for the task preference, the task is embed");
}

TEST(EmbedTraining, NamesTheLineOfBadInput) {
  const TemporaryDirectory folder;
  TrainConfig config = embed_config(folder);
  const auto expect_of = [&](const std::string& line, const std::string& message) {
    write_pairs(folder, 8);
    std::ofstream(folder / "pairs.jsonl", std::ios::app) << line << '\n';
    SCOPED_TRACE(line);
    expect_error([&] { testing::task_of(config); }, message);
  };
  expect_of(R"({"query": "a"})", "line 9: document is missing");
  expect_of(R"({"query": "", "document": "b"})", "line 9: query is empty");
  expect_of(R"({"query": "a", "document": "b", "negatives": "c"})", "negatives is \"c\", expected");
  config.embed.loss = data::VectorLoss::triplet;
  expect_of(R"({"query": "a", "document": "b"})", "line 9: negative is missing");
  config.embed.loss = data::VectorLoss::cosine;
  expect_of(R"({"text": "a", "text_pair": "b", "score": "nan"})", "line 9: score is \"nan\"");
  for (const std::string list : {"[]", "[0.1,0.9]"})
    expect_of(fmt::format(R"({{"text": "a", "text_pair": "b", "score": {}}})", list),
              "line 9: score is " + list);
  config.embed.loss = data::VectorLoss::distill;
  std::ofstream(folder / "pairs.jsonl") << R"({"text": "a", "vector": [1, 2]})" << '\n'
                                        << R"({"text": "b", "vector": [1, 2]})" << '\n';
  expect_error([&] { testing::task_of(config); }, "the vector has 2 numbers, the model's have 16");
}

}  // namespace
}  // namespace heed::train
