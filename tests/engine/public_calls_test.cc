// What the program and the server ask of a model through its public functions.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/attention_drawing.h"
#include "heed/bench.h"
#include "heed/kernels/matmul.h"
#include "heed/model_facts.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

TEST(ModelTasks, FollowFromTheKindOfModel) {
  const ModelTasks decoder = Model::load(models().decoder()).tasks();
  EXPECT_TRUE(decoder.generate && decoder.score && decoder.embed && decoder.attention);
  EXPECT_FALSE(decoder.translate || decoder.fill || decoder.chat || decoder.classify);
  const ModelTasks translator = Model::load(models().translator()).tasks();
  EXPECT_TRUE(translator.translate && translator.score);
  EXPECT_FALSE(translator.generate || translator.embed);
}

TEST(ModelTokens, OfAPromptAreThoseThatGenerateReads) {
  const Model model = Model::load(models().decoder());
  EXPECT_EQ(model.prompt_tokens("the old"), model.tokenizer().encode("the old"));
  EXPECT_EQ(model.prompt_tokens(""), std::vector<int32_t>{1});
  EXPECT_THROW(Model::load(models().translator()).tokenizer(), Error);
}

TEST(ModelTokens, OfALineWithoutWordsAreNone) {
  const Model model = Model::load(models().translator());
  EXPECT_FALSE(model.source_tokens("the old").empty());
  EXPECT_TRUE(model.source_tokens(" ").empty());
  EXPECT_THROW(model.source_tokens("\xff"), Error);
  EXPECT_THROW(Model::load(models().decoder()).source_tokens("the old"), Error);
}

TEST(EmbedTokens, GivesTheVectorsOfTheTexts) {
  const Model model = Model::load(models().decoder());
  const std::vector<int32_t> tokens = model.tokens_to_embed("the old sailor");
  EXPECT_EQ(model.count_tokens_to_embed("the old sailor"), std::ssize(tokens));
  EXPECT_EQ(model.embed_tokens({tokens}).front(), model.embed("the old sailor"));
  const EmbedOptions few{.max_seq_length = 2};
  EXPECT_EQ(model.max_embedded_tokens(few), 2);
  EXPECT_EQ(model.tokens_to_embed("the old sailor", few).size(), 2u);
  EXPECT_EQ(model.count_tokens_to_embed("the old sailor", few), std::ssize(tokens));
  EXPECT_THROW(model.embed_tokens({tokens, {}}), Error);
  EXPECT_THROW(model.embed_tokens({{120}}), Error);
  EXPECT_THROW(model.embed_tokens({std::vector<int32_t>(65, 5)}), Error);
}

TEST(ScoreWindows, HaveTheScoresOfTheText) {
  const Model model = Model::load(models().decoder());
  const ScoreOptions options{.window = 8, .stride = 3};
  const std::string text = "the old sailor went to sea and the sea was old";
  std::vector<double> scores;
  for (const ScoreWindow& window : model.score_windows(text, options))
    for (const double score : model.score_window(window)) scores.push_back(score);
  EXPECT_EQ(scores, model.score(text, options).log_probabilities);
  EXPECT_THROW(model.score_window({.tokens = {5, 6}, .scored = 2}), InputError);
  EXPECT_THROW(model.score_window({.tokens = {5, 6}, .scored = 0}), InputError);
  EXPECT_THROW(model.score_window({.tokens = std::vector<int32_t>(65, 5), .scored = 1}), Error);
  EXPECT_THROW(Model::load(models().translator()).score_window({.tokens = {5, 6}, .scored = 1}),
               Error);
}

TEST(ScoreTokens, NamesTheMostProbableOnesInTheirPlace) {
  const Model model = Model::load(models().decoder());
  const std::vector<int32_t> tokens = model.tokenize("the old sailor");
  const std::vector<TokenScore> scores = model.score_tokens(tokens, 3);
  const Score text = model.score("the old sailor");
  ASSERT_EQ(scores.size(), tokens.size() - 1);
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(scores[i].chosen.token, tokens[i + 1]);
    EXPECT_EQ(scores[i].chosen.log_probability, text.log_probabilities[i]);
    EXPECT_EQ(scores[i].best.size(), 3u);
  }
  EXPECT_THROW(model.score_tokens({}, 0), InputError);
  EXPECT_THROW(model.score_tokens(tokens, -1), InputError);
  EXPECT_EQ(model.score_tokens(tokens, 500).front().best.size(), 120u);
}

TEST(ModelLogits, GiveTheProbabilitiesThatAreScored) {
  const Model model = Model::load(models().decoder());
  const std::vector<int32_t> tokens = model.tokenize("the old sailor");
  const Logits logits = model.logits(tokens);
  ASSERT_EQ(logits.rows, std::ssize(tokens));
  ASSERT_EQ(logits.vocab_size, 120);
  const std::vector<TokenScore> scores = model.score_tokens(tokens, 0);
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto row = logits.values.begin() + static_cast<std::ptrdiff_t>(i) * 120;
    const double sum = std::accumulate(row, row + 120, 0.0, [](double all, float x) {
      return all + std::exp(static_cast<double>(x));
    });
    EXPECT_NEAR(static_cast<double>(row[tokens[i + 1]]) - std::log(sum),
                scores[i].chosen.log_probability, 1e-5);
  }
  EXPECT_THROW(model.logits(tokens, tokens), InputError);
  EXPECT_THROW(model.logits({}), InputError);
  EXPECT_THROW(model.logits(std::vector<int32_t>{120}), Error);
  EXPECT_THROW(Model::load(models().translator()).logits(tokens), InputError);
}

TEST(ModelFacts, AreThoseOfTheLoadedModel) {
  const ModelFacts facts = describe_model(models().decoder());
  EXPECT_EQ(facts.family, "llama");
  EXPECT_TRUE(facts.has_decoder && !facts.has_encoder);
  EXPECT_EQ(facts.parameters, loaded_weights(Model::load(models().decoder())).parameters);
  int64_t elements = 0;
  for (const WeightFacts& weight : facts.weights)
    elements +=
        std::accumulate(weight.shape.begin(), weight.shape.end(), int64_t{1}, std::multiplies());
  EXPECT_EQ(elements, facts.parameters);
  EXPECT_EQ(facts.weight_bytes.at(WeightType::f32), 4 * facts.parameters);
  EXPECT_EQ(facts.context_length, 64);
  EXPECT_EQ(facts.memory.context, 64);
  EXPECT_EQ(facts.memory.cache_bytes, 64 * facts.cache_bytes_per_token.at(CacheType::f32));
  EXPECT_TRUE(facts.stored.missing.empty());
  EXPECT_EQ(describe_model(models().decoder(), 10).memory.context, 10);
  EXPECT_EQ(describe_model(models().encoder()).bf16_is_faster, kernels::multiplies_bf16_faster());
  for (const auto& path : {models().masked(), models().decoder(), models().translator()})
    EXPECT_FALSE(describe_model(path).bf16_is_faster);
  EXPECT_EQ(memory_needs(facts, 10).context, 10);
  EXPECT_THROW(memory_needs(facts, 65), Error);
  EXPECT_THROW(describe_model(models().decoder(), 65), Error);
  EXPECT_THROW(describe_model(models().decoder(), 0), InputError);
}

TEST(Bench, ChoosesTheWorkByTheKindOfModel) {
  const Model decoder = Model::load(models().decoder());
  EXPECT_EQ(with_defaults(decoder, {}).prompt_tokens, 64);  // its context
  EXPECT_EQ(with_defaults(decoder, {}).batch, 1);
  EXPECT_EQ(with_defaults(decoder, {.prompt_tokens = 5, .batch = 3}).prompt_tokens, 5);
  EXPECT_EQ(with_defaults(Model::load(models().translator()), {}).batch, 32);
}

TEST(Bench, MeasuresPrefillAndDecodingAsOftenAsAsked) {
  const Model model = Model::load(models().decoder());
  const auto measured = measure_tokens(model, {.tokens = 40, .repeat = 3});
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_EQ(measured[0].what, "prefill");
  EXPECT_EQ(measured[0].count, 64);
  EXPECT_EQ(measured[1].what, "decode");
  EXPECT_EQ(measured[1].seconds.size(), 3u);
  EXPECT_GT(measured[1].weight_bytes, 0);
  EXPECT_THROW(measure_tokens(model, {.tokens = 64}), Error);
  EXPECT_THROW(measure_tokens(model, {.context_tokens = 0}), InputError);
  EXPECT_THROW(measure_tokens(model, {.repeat = 0}), InputError);
}

TEST(AttentionDrawing, IsTextOrFigureOrPage) {
  const Model model = Model::load(models().translator());
  const AttentionDrawing text = attention_text(model, "the old sailor", {.columns = 60});
  EXPECT_FALSE(text.drawing.empty());
  EXPECT_EQ(text.drawing.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.source_text, "the old sailor");
  EXPECT_NE(attention_svg(model, "the old sailor").drawing.find("<svg"), std::string::npos);
  const std::string page = attention_page(model, "the old sailor", {.model_name = "M1"}).drawing;
  EXPECT_NE(page.find("<html"), std::string::npos);
  EXPECT_NE(page.find("M1"), std::string::npos);
  const std::string element = attention_element(model, "the old sailor").drawing;
  EXPECT_EQ(element.find("<html"), std::string::npos);
}

TEST(AttentionDrawing, RefusesAHeadThatDoesNotExist) {
  const Model model = Model::load(models().decoder());
  require_attention(model, {.layer = 1, .head = 3});
  EXPECT_THROW(require_attention(model, {.layer = 2}), Error);
  EXPECT_THROW(require_attention(model, {.head = 4}), Error);
  EXPECT_THROW(require_attention(model, {.kind = AttentionKind::cross}), Error);
  EXPECT_THROW(attention_svg(model, "the old", {.attention = {.layer = 2}}), Error);
}

}  // namespace
}  // namespace heed::engine
