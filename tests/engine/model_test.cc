// What a Model returns is what the layers below it compute with the options that heed's program
// used to choose by itself.
#include "heed/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/translator.h"
#include "heed/tasks/scorer.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

TEST(Model, StatesItsFacts) {
  const Model decoder = Model::load(models().decoder());
  EXPECT_EQ(decoder.family(), "llama");
  EXPECT_FALSE(decoder.has_encoder());
  EXPECT_TRUE(decoder.has_decoder());
  EXPECT_EQ(decoder.context_length(), 64);
  EXPECT_EQ(decoder.vocab_size(), 120);
  EXPECT_EQ(decoder.embedding_size(), 64);
  EXPECT_EQ(decoder.eos_ids(), std::vector<int32_t>{2});
  EXPECT_TRUE(decoder.has_tokenizer());
  EXPECT_TRUE(Model::load(models().translator()).has_encoder());
}

TEST(Model, GeneratesWhatTheGeneratorDoes) {
  const Model model = Model::load(models().decoder());
  const auto transformer = checkpoint::load_model(models().decoder(), {.precision = {}});
  const auto tokenizer = text::Tokenizer::load(models().decoder());
  generate::GeneratorOptions options;
  options.max_new_tokens = 20;
  options.rules.eos_ids = {2};
  const generate::Generator generator(*transformer, tokenizer, options);
  const Generation expected = generator.generate({tokenizer.encode("the old sailor")}).front();
  const Generation found = model.generate("the old sailor", {.max_new_tokens = 20});
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.text, expected.text);
  EXPECT_FALSE(found.tokens.empty());
  EXPECT_EQ(model.generate(tokenizer.encode("the old sailor"), {.max_new_tokens = 20}).tokens,
            expected.tokens);
}

TEST(Model, StreamsTheTextThatItReturns) {
  const Model model = Model::load(models().decoder());
  std::string streamed;
  int parts = 0;
  const Generation output =
      model.generate("the old", {.max_new_tokens = 12}, [&](std::string_view text) {
        streamed += text;
        ++parts;
      });
  EXPECT_EQ(streamed, output.text);
  EXPECT_GT(parts, 1);
}

TEST(Model, SamplesTheSameForAPromptOfTheSameNumber) {
  const Model model = Model::load(models().decoder());
  const GenerateOptions options{.max_new_tokens = 8, .temperature = 1.5f, .seed = 3};
  const auto all = model.generate_batch({"the", "old", "the", "sea"}, options);
  EXPECT_NE(all[0].tokens, all[2].tokens);  // another number, other random numbers
  const auto last = model.generate_batch({"the", "sea"}, options, 3);
  EXPECT_EQ(last[0].tokens, all[2].tokens);
  EXPECT_EQ(last[1].tokens, all[3].tokens);
  EXPECT_EQ(model.generate("the", options).tokens, all[0].tokens);
}

TEST(Model, ReadsAnEmptyPromptAsBeginningOfSequence) {
  const Model model = Model::load(models().decoder());
  EXPECT_EQ(model.generate("", {.max_new_tokens = 5}).tokens,
            model.generate(std::vector<int32_t>{1}, {.max_new_tokens = 5}).tokens);
}

TEST(Model, TakesDefaultsFromGenerationConfig) {
  TemporaryDirectory folder;
  write_decoder(folder / "model");
  const Model plain = Model::load(folder / "model");
  const std::vector<int32_t> greedy = plain.generate("the", {.max_new_tokens = 9}).tokens;
  const std::string last_token = std::to_string(greedy.back());
  write_quickly(folder / "model" / "generation_config.json",
                R"({"max_new_tokens": 9, "temperature": 100.0, "eos_token_id": [119]})");
  const Model model = Model::load(folder / "model");
  EXPECT_EQ(model.eos_ids(), std::vector<int32_t>{119});
  // The temperature matters only when sampling is asked for.
  EXPECT_EQ(model.generate("the").tokens, greedy);
  EXPECT_NE(model.generate("the", {.sample = true}).tokens, greedy);
  EXPECT_EQ(model.generate("the", {.temperature = 0.0f}).tokens, greedy);
  EXPECT_EQ(model.generate("the", {.max_new_tokens = 2}).tokens.size(), 2u);
}

TEST(Model, SearchesWithBeams) {
  const Model model = Model::load(models().decoder());
  const auto outputs =
      model.search_batch({"the", "old"}, {.num_beams = 3, .n_best = 2}, {.max_new_tokens = 6});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(outputs[1].size(), 2u);
  EXPECT_GE(outputs[1][0].hypothesis.score, outputs[1][1].hypothesis.score);
  EXPECT_EQ(outputs[1][0].text, model.detokenize(outputs[1][0].hypothesis.tokens));
}

TEST(Model, SearchesWithATranslatorFromTokens) {
  const Model model = Model::load(models().translator());
  const Prompt source = model.tokenize("the old sailor");
  const auto found =
      model.search_batch({source}, {.num_beams = 8, .n_best = 8}, {.max_new_tokens = 6}).front();
  for (const Candidate& candidate : found)
    EXPECT_EQ(candidate.text, model.detokenize(candidate.hypothesis.tokens));
  EXPECT_TRUE(std::ranges::any_of(found, [](const Candidate& one) { return !one.text.empty(); }));
}

TEST(Model, GeneratesTokensWithoutATokenizer) {
  TemporaryDirectory folder;
  write_decoder(folder / "model");
  std::filesystem::remove(folder / "model" / "tokenizer.model");
  const Model model = Model::load(folder / "model");
  EXPECT_FALSE(model.has_tokenizer());
  const Generation output = model.generate(std::vector<int32_t>{5, 6}, {.max_new_tokens = 4});
  EXPECT_FALSE(output.tokens.empty());
  EXPECT_EQ(output.text, "");
}

TEST(Model, TranslatesWhatTheTranslatorDoes) {
  const Model model = Model::load(models().translator());
  const auto transformer = checkpoint::load_model(models().translator());
  transformer->pack(Compute::f32);
  const auto tokenizer = text::TranslationTokenizer::load(models().translator());
  const generate::Translator translator(*transformer, tokenizer, {.search = {.num_beams = 4}});
  const std::vector<std::string> lines{"the old sailor forgot", "", "the sea"};
  const auto expected = translator.translate(lines), found = model.translate_batch(lines);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(found[i].text(), expected[i].text()) << i;
  EXPECT_EQ(model.translate(lines[0]).text(), expected[0].text());
  EXPECT_EQ(found[1].text(), "");
  EXPECT_NE(found[0].text(), found[2].text());
}

TEST(Model, GivesNBestListsScoresAndAlignments) {
  const Model model = Model::load(models().translator());
  TranslateOptions options{.alignments = true};
  options.search.n_best = 3;
  const Translation line = model.translate("the old sailor forgot", options);
  ASSERT_EQ(line.candidates.size(), 3u);
  EXPECT_LT(line.candidates[1].hypothesis.log_probability, 0);
  EXPECT_GE(line.candidates[0].hypothesis.score, line.candidates[1].hypothesis.score);
  for (const Candidate& candidate : line.candidates)
    EXPECT_EQ(candidate.alignment.empty(), candidate.text.empty());
  EXPECT_TRUE(model.translate("the old").candidates.front().alignment.empty());
}

TEST(Model, EmbedsEachTextAsAlone) {
  const Model model = Model::load(models().encoder());
  const auto all = model.embed_batch({"the old sea", "ship", ""});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].size(), 64u);
  EXPECT_EQ(all[1], model.embed("ship"));
  EXPECT_NE(all[0], all[1]);
  const auto unit = model.embed("ship", {.pooling = Pooling::cls, .normalize = true});
  EXPECT_NEAR(std::inner_product(unit.begin(), unit.end(), unit.begin(), 0.0), 1.0, 1e-5);
}

TEST(Model, WritesEmbeddingsToRowsOfTheCaller) {
  const Model model = Model::load(models().encoder());
  const std::vector<std::string> texts = {"the old sea", "ship", ""};
  std::vector<float> rows(3 * 64);
  model.embed_batch(texts, rows);
  const auto all = model.embed_batch(texts);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::equal(all[i].begin(), all[i].end(), rows.begin() + static_cast<int>(64 * i)));
  rows.pop_back();
  expect_error([&] { model.embed_batch(texts, rows); },
               "there is room for 191 elements, expected 192 for 3 embeddings of 64");
}

TEST(Model, ScoresTextsAndPairs) {
  const Model decoder = Model::load(models().decoder());
  const Score text = decoder.score("the old sailor forgot");
  EXPECT_EQ(text.log_probabilities.size() + 1, text.tokens.size());
  EXPECT_EQ(text.log_probabilities,
            tasks::score_text(*loaded(decoder).transformer, text.tokens, {}));
  EXPECT_GT(text.perplexity(), 1);
  EXPECT_LT(text.log_probability(), 0);

  const Model translator = Model::load(models().translator());
  const Score pair = translator.score_pair("the old sailor", "the sea");
  EXPECT_EQ(pair.log_probabilities.size(), pair.tokens.size());
  EXPECT_EQ(Model::load(models().t5()).score_pair("the", "old sea").tokens.empty(), false);
}

TEST(Model, FillsMasksUnderAnyOfTheirNames) {
  const Model model = Model::load(models().masked());
  const FilledText filled = model.fill("the [MASK] went <mask>", 3);
  ASSERT_EQ(filled.masks.size(), 2u);
  EXPECT_EQ(filled.masks[0].position, 2);
  ASSERT_EQ(filled.masks[0].best.size(), 3u);
  EXPECT_GE(filled.masks[0].best[0].probability, filled.masks[0].best[1].probability);
  EXPECT_EQ(model.token_text(filled.tokens[2]), "[MASK]");
}

TEST(Model, TokenizesAndBack) {
  const Model decoder = Model::load(models().decoder());
  EXPECT_EQ(decoder.detokenize(decoder.tokenize("the old sailor")), "the old sailor");
  const Model encoder = Model::load(models().encoder());
  EXPECT_EQ(encoder.tokenize("the sea"), (std::vector<int32_t>{2, 5, 7, 3}));
  EXPECT_EQ(encoder.tokenize("the sea", false), (std::vector<int32_t>{5, 7}));
  EXPECT_EQ(encoder.detokenize(std::vector<int32_t>{2, 5, 7, 3}, false), "[CLS] the sea [SEP]");
  const Model translator = Model::load(models().translator());
  EXPECT_GT(translator.tokenize("the old").size(), 1u);
}

TEST(Model, CopiesOutliveWhatTheyWereCopiedFrom) {
  std::optional<Model> model = Model::load(models().decoder());
  const Model copy = *model;
  Model moved = std::move(*model);
  EXPECT_EQ(model->vocab_size(), 120);  // a move leaves a copy behind
  model.reset();
  EXPECT_EQ(copy.generate("the", {.max_new_tokens = 3}).tokens,
            moved.generate("the", {.max_new_tokens = 3}).tokens);
}

TEST(Model, ServesSeveralThreadsAtOnce) {
  const Model decoder = Model::load(models().decoder());
  const Model encoder = Model::load(models().encoder());
  const auto output = decoder.generate("the old", {.max_new_tokens = 16}).tokens;
  const auto vector = encoder.embed("the sea");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        if (decoder.generate("the old", {.max_new_tokens = 16}).tokens != output) ++wrong;
        if (encoder.embed("the sea") != vector) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Model, ComputesOnTheExecutorOfItsOptions) {
  for (const int count : {1, 3}) {
    const Model model =
        Model::load(models().decoder(), {.executor = std::make_shared<Executor>(count)});
    int threads = 0;
    const auto output = model.generate("the old", {.max_new_tokens = 4}, [&](std::string_view) {
      threads = thread_count();  // of the Executor that the call computes on
    });
    EXPECT_EQ(threads, count);
    EXPECT_EQ(output.tokens,
              Model::load(models().decoder()).generate("the old", {.max_new_tokens = 4}).tokens);
  }
}

}  // namespace
}  // namespace heed::engine
