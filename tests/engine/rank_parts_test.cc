// A model that is divided among ranks, which threads play, computes what the whole model does.
#include "heed/engine/rank_parts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/distribute/local_ranks.h"

namespace heed::engine {
namespace {

namespace fs = std::filesystem;

const fs::path kFamilies = fs::path(HEED_SOURCE_DIR) / "tests/golden/families";

/// A small Llama without weights.
class SmallLlama {
 public:
  SmallLlama() {
    write_quickly(
        directory_ / "config.json",
        R"({"model_type": "llama", "vocab_size": 57, "hidden_size": 64, "intermediate_size": 128,
               "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 4,
               "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu",
               "bos_token_id": 1, "eos_token_id": 1})");
  }
  const fs::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

std::vector<float> logits_of(const model::Transformer& model) {
  const std::vector<int32_t> tokens{3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 55}, offsets{0, 4, 11};
  Context context;
  const Tensor logits = model.logits(context, model.decode_all(context, {tokens, offsets}));
  return {logits.data<float>(), logits.data<float>() + logits.elements()};
}

struct DividedRun {
  std::vector<std::vector<float>> logits;  // by rank
  std::vector<int64_t> bytes;              // of the weights
  std::vector<std::string> errors;
};

DividedRun run_divided(const fs::path& path, int size, const checkpoint::BuildOptions& build,
                       const checkpoint::WeightOptions& weights = {}) {
  DividedRun run{.logits = std::vector<std::vector<float>>(static_cast<size_t>(size)),
                 .bytes = std::vector<int64_t>(static_cast<size_t>(size)),
                 .errors = {}};
  const auto ranks = distribute::run_ranks(size, [&](distribute::Messenger& messenger) {
    const auto rank = static_cast<size_t>(messenger.rank());
    const auto parts = std::make_shared<RankParts>(messenger.rank(), size);
    parts->use(messenger);
    checkpoint::BuildOptions own = build;
    own.parts = parts;
    const auto model = checkpoint::load_model(path, weights, own);
    for (const Parameter& parameter : model->parameters().all())
      run.bytes[rank] += parameter.value.bytes();
    run.logits[rank] = logits_of(*model);
  });
  for (const auto& error : ranks.errors) run.errors.push_back(distribute::message_of(error));
  return run;
}

void expect_same(const fs::path& path, int size, const checkpoint::BuildOptions& build = {},
                 const checkpoint::WeightOptions& weights = {}) {
  constexpr float kTolerance = 2e-5f;
  const std::vector<float> whole = logits_of(*checkpoint::load_model(path, weights, build));
  const DividedRun run = run_divided(path, size, build, weights);
  for (const std::string& error : run.errors) ASSERT_EQ(error, "") << path;
  for (const auto& logits : run.logits) EXPECT_EQ(logits, run.logits[0]) << path;
  ASSERT_EQ(run.logits[0].size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i)
    ASSERT_NEAR(run.logits[0][i], whole[i], kTolerance * (1 + std::abs(whole[i])))
        << path << " " << i;
}

TEST(RankParts, ComputeTheLogitsOfTheWholeModelInAllFamiliesThatCanBeDivided) {
  for (const char* family : {"gpt2", "gpt-neox", "llama3", "qwen2", "qwen3", "gemma2", "gemma3",
                             "phi3", "mistral", "smollm3", "granite"})
    expect_same(kFamilies / family, 2);
}

TEST(RankParts, MayBeFourWithAVocabularyThatFourDoesNotDivide) {
  const SmallLlama llama;
  for (const int size : {2, 4}) expect_same(llama.path(), size, {.random_seed = 1});
}

TEST(RankParts, OfQuantisedWeightsAreDividedBetweenBlocks) {
  expect_same(SmallLlama().path(), 2, {.random_seed = 1}, {.precision = {DType::q8_0}});
}

TEST(RankParts, HaveTheirShareOfTheWeights) {
  const SmallLlama llama;
  const auto model = checkpoint::OpenedModel(llama.path(), {.random_seed = 1}).load();
  int64_t whole = 0;
  for (const Parameter& parameter : model->parameters().all()) whole += parameter.value.bytes();
  const DividedRun run = run_divided(llama.path(), 4, {.random_seed = 1});
  for (const std::string& error : run.errors) ASSERT_EQ(error, "");
  for (const int64_t bytes : run.bytes) {
    EXPECT_GT(bytes, whole / 4);
    EXPECT_LT(static_cast<double>(bytes), 1.1 * static_cast<double>(whole) / 4);
  }
}

TEST(RankParts, AreRefusedWhereHeadsCannotBeDivided) {
  const SmallLlama llama;
  EXPECT_NE(run_divided(llama.path(), 3, {.random_seed = 1})
                .errors[0]
                .find("the model cannot be divided among 3 ranks: num_attention_heads is 8"),
            std::string::npos);
  EXPECT_NE(run_divided(kFamilies / "mixtral", 2, {})
                .errors[0]
                .find("the model cannot be divided among ranks: that needs a decoder"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::engine
