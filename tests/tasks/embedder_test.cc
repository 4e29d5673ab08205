#include "heed/tasks/embedder.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/base/testing.h"
#include "tests/base/threads.h"

namespace heed::tasks {
namespace {

/// A vocabulary of the words a to z.
text::Tokenizer letter_tokenizer() {
  nlohmann::json vocabulary;
  for (int letter = 0; letter < 26; ++letter)
    vocabulary[std::string(1, static_cast<char>('a' + letter))] = letter;
  return text::Tokenizer::from_json(
      {{"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "z"}}},
       {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}},
      "tokenizer.json");
}

model::Transformer small_encoder() {
  model::ModelConfig config;
  config.vocab_size = 26;
  config.d_model = 16;
  config.n_heads = 4;
  config.d_ff = 32;
  config.encoder_layers = 2;
  config.decoder_layers = 0;
  config.has_head = false;
  config.pooler = true;
  config.max_positions = 64;
  return model::Transformer(config, 7);
}

std::vector<std::string> texts(int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    std::string text;
    for (int word = 0; word <= (i * 7) % 23; ++word)
      text += {static_cast<char>('a' + (i + 3 * word) % 26), ' '};
    texts.push_back(text);
  }
  return texts;
}

class EmbedderOf : public testing::TestWithParam<Pooling> {};

INSTANTIATE_TEST_SUITE_P(Poolings, EmbedderOf,
                         testing::Values(Pooling::mean, Pooling::cls, Pooling::max, Pooling::pooler,
                                         Pooling::last, Pooling::mean_sqrt_len_tokens,
                                         Pooling::weightedmean),
                         [](const auto& pooling) { return std::string(name_of(pooling.param)); });

TEST_P(EmbedderOf, AnEmbeddingDoesNotDependOnTheBatchOrTheNumberOfThreads) {
  const model::Transformer model = small_encoder();
  const std::vector<std::string> all = texts(200);
  const auto embed = [&](const std::vector<std::string>& some, int64_t batch_tokens) {
    return Embedder(model, letter_tokenizer(),
                    {.pooling = {GetParam()}, .normalize = true, .batch_tokens = batch_tokens})
        .embed(some);
  };
  const auto expected = embed(all, 1 << 20);
  for (const int threads : {1, 2, 5}) {
    const Threads set(threads);
    EXPECT_EQ(embed(all, 300), expected) << threads << " threads";
  }
  for (size_t i = 0; i < all.size(); i += 11) EXPECT_EQ(embed({all[i]}, 300)[0], expected[i]);
}

TEST(Embedder, PoolsTheStatesOfTheTokens) {
  const model::Transformer model = small_encoder();
  const auto embed = [&](Pooling pooling, const std::string& text) {
    return Embedder(model, letter_tokenizer(), {.pooling = {pooling}}).embed({text})[0];
  };
  for (const Pooling pooling : {Pooling::cls, Pooling::max, Pooling::last, Pooling::weightedmean,
                                Pooling::mean_sqrt_len_tokens})
    EXPECT_EQ(embed(pooling, "k"), embed(Pooling::mean, "k"));
  const auto first = embed(Pooling::cls, "a b"), last = embed(Pooling::last, "a b");
  const auto mean = embed(Pooling::mean, "a b"), max = embed(Pooling::max, "a b");
  for (size_t i = 0; i < mean.size(); ++i) {
    EXPECT_FLOAT_EQ(mean[i], (first[i] + last[i]) / 2);
    EXPECT_EQ(max[i], std::max(first[i], last[i]));
  }
}

TEST(Embedder, NamesTheFirstTextWithoutTokens) {
  const model::Transformer model = small_encoder();
  std::vector<std::string> all = texts(300);
  all[70] = all[200] = "";
  const Embedder embedder(model, letter_tokenizer(), {});
  for (const int threads : {1, 2, 5}) {
    const Threads set(threads);
    expect_error([&] { embedder.embed(all); }, "text 71: no tokens");
    expect_error([&] { embedder.embed(all, 101); }, "text 171: no tokens");
  }
  EXPECT_TRUE(embedder.embed({}).empty());
}

TEST(Embedder, ReportsDamagedWeights) {
  model::Transformer model = small_encoder();
  model.parameters().named("model.shared.weight").value.data<float>()[5] =
      std::numeric_limits<float>::quiet_NaN();
  const Embedder embedder(model, letter_tokenizer(), {});
  expect_error([&] { embedder.embed(texts(200)); }, "its weights are damaged");
}

}  // namespace
}  // namespace heed::tasks
