#include "heed/attention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

using enum AttentionKind;

TEST(Attention, HasAMapForEachLayerOfEachKind) {
  const auto maps = Model::load(models().translator()).attention("the old sailor");
  ASSERT_EQ(maps.size(), 6u);
  EXPECT_EQ(maps[0].kind, encoder_self);
  EXPECT_EQ(maps[3].kind, decoder_self);
  EXPECT_EQ(maps[5].kind, cross);
  EXPECT_EQ(maps[5].layer, 1);
  for (const AttentionMap& map : maps) {
    EXPECT_EQ(map.heads, 4);
    ASSERT_EQ(map.weights.size(), 4 * map.queries.size() * map.keys.size());
    for (size_t row = 0; row < 4 * map.queries.size(); ++row) {
      double sum = 0;
      for (size_t k = 0; k < map.keys.size(); ++k)
        sum += static_cast<double>(map.weights[row * map.keys.size() + k]);
      EXPECT_NEAR(sum, 1.0, 1e-5) << name_of(map.kind) << " row " << row;
    }
  }
  EXPECT_EQ(maps[5].queries, maps[3].keys);
  EXPECT_EQ(maps[5].keys, maps[0].keys);
}

TEST(Attention, IsOfATranslationIntoTheLanguageThatIsAskedFor) {
  const Model model = Model::load(HEED_SOURCE_DIR "/tests/golden/translation/nllb");
  const auto maps = model.attention(
      "The old house.",
      {.target = "La maison.", .source_language = "eng_Latn", .target_language = "fra_Latn"});
  EXPECT_EQ(maps.back().keys.front(), "eng_Latn");
  EXPECT_EQ(maps.back().queries[1], "fra_Latn");
  const auto detected = model.attention("Where are the men of the sea?",
                                        {.source_language = "auto", .target_language = "fra_Latn"});
  EXPECT_EQ(detected.back().keys.front(), "eng_Latn");
  EXPECT_THROW(model.attention("The old house.", {.source_language = "eng_Latn"}), Error);
}

TEST(Attention, IsOfAsMuchOfALongTranslationAsTheDecoderReads) {
  const Model model = Model::load(HEED_SOURCE_DIR "/tests/golden/translation/nllb");
  const auto maps = model.attention("The old house stands by the river.",
                                    {.source_language = "eng_Latn", .target_language = "fra_Latn"});
  EXPECT_EQ(std::ssize(maps.back().queries), model.context_length());
}

TEST(Attention, IsOfTheGreedyTranslation) {
  // Its generation_config.json has a token that no output may have.
  const Model model = Model::load(HEED_SOURCE_DIR "/tests/golden/translation/opus-mt");
  const auto maps = model.attention("and the sea", {.kind = cross});
  const Translation greedy = model.translate("and the sea", {.search = {.num_beams = 1}});
  std::vector<std::string> expected{"<pad>"};  // the decoder's start
  for (const int32_t token : greedy.candidates.front().hypothesis.tokens)
    expected.push_back(model.token_text(token));
  expected.resize(std::min(expected.size(), maps[0].queries.size()));
  EXPECT_EQ(maps[0].queries, expected);
}

TEST(Attention, SelectsALayerAndAHead) {
  const Model model = Model::load(models().decoder());
  const auto all = model.attention("the old sailor forgot");
  const auto one =
      model.attention("the old sailor forgot", {.kind = decoder_self, .layer = 1, .head = 2});
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].layer, 1);
  EXPECT_EQ(one[0].first_head, 2);
  EXPECT_EQ(one[0].heads, 1);
  const size_t size = one[0].queries.size() * one[0].keys.size();
  ASSERT_EQ(one[0].weights.size(), size);
  EXPECT_TRUE(std::equal(one[0].weights.begin(), one[0].weights.end(),
                         all[1].weights.begin() + static_cast<std::ptrdiff_t>(2 * size)));
  EXPECT_EQ(one[0].weights[1], 0.0f);  // the first token does not see the second
}

TEST(Attention, ReadsTheTargetThatItIsGiven) {
  const auto maps =
      Model::load(models().t5()).attention("the old", {.target = "sea", .kind = cross});
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].queries.front(), "<pad>");  // T5's start token
  EXPECT_GT(maps[0].queries.size(), 1u);
}

}  // namespace
}  // namespace heed::engine
