#include "heed/generate/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/generate/translator.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/generate/small_translator.h"
#include "tests/generate/teacher_forced.h"

namespace heed::generate {
namespace {

bool equal(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.values<float>(), b.values<float>());
}

SearchBatch sources_to_attend(const model::ModelConfig& config, const SearchOptions& options,
                              int count) {
  SearchBatch batch{.rules = {.eos_ids = config.eos_ids()}, .cross_attention = true};
  for (const std::string& line : translator_lines(count))
    batch.inputs.push_back(translation_input(
        config, options, translator_tokenizer().encode_source(line), {config.decoder_start_id, 7}));
  return batch;
}

TEST(CrossAttention, OfASearchIsThatOfAFullPassOverEachHypothesisBitForBit) {
  const auto model = varied_translator();
  for (const int beams : {1, 4}) {
    const SearchOptions options{.num_beams = beams, .n_best = beams};
    const SearchBatch batch = sources_to_attend(model->config(), options, 24);
    for (const int threads : {1, 3}) {
      const Threads set(threads);
      const auto found = search(*model, DType::f32, batch, options);
      size_t ended = 0, cut = 0;
      for (size_t b = 0; b < found.size(); ++b)
        for (const auto& [hypothesis, cross_attention] : found[b]) {
          ++(hypothesis.complete ? ended : cut);
          const std::vector<Tensor> expected = teacher_forced_attention(
              *model, batch.inputs[b].source, batch.inputs[b].prompt, hypothesis.tokens);
          ASSERT_EQ(cross_attention.size(), expected.size());
          for (size_t t = 0; t < expected.size(); ++t)
            ASSERT_TRUE(equal(cross_attention[t], expected[t]))
                << beams << " beams, source " << b << ", token " << t;
        }
      EXPECT_GT(ended, 0u);
      EXPECT_GT(cut, 0u);
    }
  }
}

TEST(CrossAttention, IsNotComputedUnlessItIsWantedAndChangesNoHypothesis) {
  const auto model = varied_translator();
  const SearchOptions options{.num_beams = 3, .n_best = 3};
  SearchBatch batch = sources_to_attend(model->config(), options, 24);
  const auto with = search(*model, DType::f32, batch, options);
  batch.cross_attention = false;
  const auto without = search(*model, DType::f32, batch, options);
  for (size_t b = 0; b < with.size(); ++b)
    for (size_t i = 0; i < with[b].size(); ++i) {
      EXPECT_TRUE(without[b][i].cross_attention.empty());
      EXPECT_EQ(with[b][i].hypothesis.tokens, without[b][i].hypothesis.tokens);
      EXPECT_EQ(with[b][i].hypothesis.score, without[b][i].hypothesis.score);
    }
}

TEST(Alignment, OfATranslatorIsThatOfAFullPassOverEachCandidate) {
  const auto model = varied_translator();
  const Translator translator(*model, translator_tokenizer(),
                              {.search = {.num_beams = 4, .n_best = 3}, .alignments = true});
  size_t pairs = 0;
  for (const Translation& line : translator.translate(translator_lines(40)))
    for (const Candidate& candidate : line.candidates) {
      const std::vector<int32_t>& tokens = candidate.hypothesis.tokens;
      const SearchResult again{
          candidate.hypothesis,
          teacher_forced_attention(*model, line.source, {translator_config().decoder_start_id},
                                   tokens)};
      const auto expected = align_words(translator_tokenizer(), line.source, again);
      EXPECT_EQ(pharaoh(candidate.alignment), pharaoh(expected));
      pairs += expected.size();
    }
  EXPECT_GT(pairs, 40u);
}

TEST(Alignment, AddsTheWeightsOfTheTokensOfAWord) {
  std::vector<int32_t> source = translator_tokenizer().encode_source("the sailor forgot");
  const std::vector<int32_t> target = translator_tokenizer().encode_target("the sailor");
  const auto begins = [](int32_t token) {
    return translator_tokenizer().piece(token).starts_with("\u2581");
  };
  SearchResult translation{{.tokens = {target.begin(), target.end() - 1}}, {}};
  ASSERT_EQ(std::ranges::count_if(translation.hypothesis.tokens, begins), 2);
  ASSERT_GT(std::ranges::count_if(source, std::not_fn(begins)), 2);
  // Each token of "forgot" has a little more than the only one of "the", the last of the source
  // has the most.
  int word = -1;
  Tensor weights = Tensor::zeros({std::ssize(source)});
  for (size_t s = 0; s + 1 < source.size(); ++s) {
    word += begins(source[s]);
    weights.data<float>()[s] = word == 0 ? 0.3f : word == 2 ? 0.2f : 0.0f;
  }
  weights.data<float>()[source.size() - 1] = 9.0f;
  translation.cross_attention.assign(translation.hypothesis.tokens.size(), weights);
  EXPECT_EQ(pharaoh(align_words(translator_tokenizer(), source, translation)), "2-0 2-1");
  translation.cross_attention.pop_back();
  expect_error([&] { align_words(translator_tokenizer(), source, translation); },
               "tokens of a translation have cross-attention, expected all");
}

TEST(Alignment, OfNoWordsIsEmpty) {
  const std::vector<int32_t> nothing = translator_tokenizer().encode_source("");
  EXPECT_TRUE(
      align_words(translator_tokenizer(), translator_tokenizer().encode_source("the sea"), {})
          .empty());
  const SearchResult token{{.tokens = {5}}, {Tensor::zeros({std::ssize(nothing)})}};
  EXPECT_TRUE(align_words(translator_tokenizer(), nothing, token).empty());
}

}  // namespace
}  // namespace heed::generate
