#include "heed/data/text_filter.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/data/alignment_score.h"
#include "heed/data/mojibake.h"

namespace heed::data {
namespace {

TEST(Mojibake, IsFoundInTextOfAWrongEncoding) {
  for (const char* text :
       {"un cafÃ© noir", "Don’t vs. Donâ€™t", "Ð¼Ð¸Ñ€", "StraÃŸe", "price: Â£5", "10 â‚¬",
        "a \uFFFD b", "a\u0092s", "Å¾ivÄ›", "â€œquotedâ€\u009d", "Â¿DÃ³nde?"})
    EXPECT_TRUE(has_mojibake(text)) << text;
}

TEST(Mojibake, IsNotFoundInTextOfManyLanguages) {
  for (const char* text :
       {"", "plain", "un café noir", "Don’t “quote” me – really…",
        "«LIBERTÉ» et “PÅ”, voilà\u00a0!", "Straße, Größe, ÄÖÜ", "¿Dónde está? ¡Aquí!",
        "Добро пожаловать", "Καλημέρα", "NÃO, não", "ÎN ROMÂNIA, “în”", "žluťoučký kůň",
        "10 € £5 ½ °C", "日本語", "שלום", "Đà Nẵng", "İstanbul", "“PÅ” och “SÅ”",
        "L’ÂME à\u00a0«\u00a0vous\u00a0»"})
    EXPECT_FALSE(has_mojibake(text)) << text;
}

TEST(TextFilter, DropsWhatItIsAskedTo) {
  const SentencePair copied{"The same ", "The same"}, broken{"a house", "une maison trÃ¨s vieille"},
      swapped{"La vieille maison est au bord de la rivière", "The old house stands by the river"},
      good{"The old house stands by the river", "La vieille maison est au bord de la rivière"},
      numbers{"1 2 3", "4 5 6"};
  const TextFilter none({});
  for (const SentencePair& pair : {copied, broken, swapped, good})
    EXPECT_EQ(none.problem(pair, "en", "fr"), std::nullopt);
  const TextFilter all(
      {.drop_copied = true, .drop_mojibake = true, .min_language_probability = 0.5});
  EXPECT_EQ(all.problem(copied, "en", "fr"), Drop::copied);
  EXPECT_EQ(all.problem(broken, "en", "fr"), Drop::mojibake);
  EXPECT_EQ(all.problem(swapped, "en", "fr"), Drop::language);
  EXPECT_EQ(all.problem(good, "en", "fr"), std::nullopt);
  EXPECT_EQ(all.problem(good, "en", "de"), Drop::language);
  EXPECT_EQ(all.problem(numbers, "en", "fr"), std::nullopt) << "nothing to tell a language by";
}

TEST(TextFilter, FindsDuplicatesOfTheSameDirection) {
  TextFilter filter({.drop_duplicates = true});
  const auto number = [](int i) { return SentencePair{std::to_string(i), std::to_string(-i)}; };
  for (int i = 0; i < 5000; ++i) EXPECT_FALSE(filter.repeats(number(i), 1)) << i;
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(filter.repeats(number(i), 1)) << i;
  EXPECT_FALSE(filter.repeats(number(7), 2));
  EXPECT_FALSE(filter.repeats({"7-7", ""}, 1));
  TextFilter off({});
  off.repeats(number(1), 1);
  EXPECT_FALSE(off.repeats(number(1), 1));
}

// In an artificial language whose word i means word i + 100, in another order.
TEST(AlignmentModel, ScoresTranslationsAboveOtherPairs) {
  const CounterRandom random(3);
  std::vector<Example> pairs;
  for (uint64_t i = 0; i < 600; ++i) {
    Example pair;
    for (uint64_t j = 0; j < 4 + random.below(1000 + i, 6); ++j)
      pair.source.push_back(static_cast<int32_t>(random.below(100 * i + j, 60)));
    for (const int32_t token : pair.source) pair.target.insert(pair.target.begin(), token + 100);
    pairs.push_back(std::move(pair));
  }
  const AlignmentModel model(pairs);
  for (size_t i = 0; i < 50; ++i)
    EXPECT_GT(model.score(pairs[i]), model.score({pairs[i].source, pairs[i + 100].target}) + 1)
        << i;
  EXPECT_LT(model.score({{7}, {9999}}), -10) << "tokens that never occur";
  EXPECT_EQ(AlignmentModel(pairs).score(pairs[0]), model.score(pairs[0]));
}

}  // namespace
}  // namespace heed::data
