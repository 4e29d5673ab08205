#include "heed/data/lexical_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "heed/base/random.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"

namespace heed::data {
namespace {

/// Sentences of random words w, each of which is translated by w + 100, in another order, with the
/// word 99 in every translation.
std::vector<TokenPair> dictionary_text(int sentences) {
  const CounterRandom random(3);
  std::vector<TokenPair> pairs;
  for (int b = 0; b < sentences; ++b) {
    TokenPair pair;
    for (int i = 0; i < 4 + b % 5; ++i)
      pair.source.push_back(
          static_cast<int32_t>(random.bits(static_cast<uint64_t>(b * 16 + i)) % 60));
    for (const int32_t token : pair.source) pair.target.push_back(token + 100);
    std::ranges::reverse(pair.target);
    pair.target.push_back(99);
    pairs.push_back(pair);
  }
  return pairs;
}

TEST(LexicalTable, Model1FindsTheDictionaryOfAText) {
  const auto entries = lexical_table(dictionary_text(2000), LexicalTableOptions{.iterations = 8});
  std::map<int32_t, LexicalEntry> first;  // of each source token
  for (const LexicalEntry& entry : entries)
    if (entry.source != kNoSource) first.try_emplace(entry.source, entry);
  ASSERT_EQ(first.size(), 60u);
  for (const auto& [source, entry] : first) {
    EXPECT_EQ(entry.target, source + 100);
    EXPECT_GT(entry.probability, 0.6f);
  }
}

/// Two iterations by hand: "a b" = "x y", "a" = "x".
TEST(LexicalTable, Model1HasTheProbabilitiesOfItsFormula) {
  const std::vector<TokenPair> pairs{{{0, 1}, {0, 1}}, {{0}, {0}}};
  const auto probability = [&](int64_t iterations, int32_t target, int32_t source) {
    for (const LexicalEntry& entry :
         lexical_table(pairs, LexicalTableOptions{.iterations = iterations}))
      if (entry.source == source && entry.target == target) return entry.probability;
    return 0.0f;
  };
  // First counts: 1/3 for each word of the first pair, the empty one included, 1/2 for the second.
  // "a" and the empty word are in the same sentences.
  const float a = (1.0f / 3 + 1.0f / 2) / (1.0f / 3 + 1.0f / 3 + 1.0f / 2);
  EXPECT_FLOAT_EQ(probability(1, 0, 0), a);
  EXPECT_FLOAT_EQ(probability(1, 0, 1), 0.5f);
  const float x = a / (2 * a + 0.5f) + 0.5f, y = (1 - a) / (2 * (1 - a) + 0.5f);
  EXPECT_FLOAT_EQ(probability(2, 0, 0), x / (x + y));
}

TEST(LexicalTable, BeginsWithTheMostFrequentTokens) {
  const auto entries = lexical_table(dictionary_text(500), LexicalTableOptions{.frequent = 3});
  EXPECT_EQ(entries[0].source, kNoSource);
  EXPECT_EQ(entries[0].target, 99);
  EXPECT_EQ(std::ranges::count(entries, kNoSource, &LexicalEntry::source), 3);
  EXPECT_GE(entries[1].probability, entries[2].probability);
}

TEST(LexicalTable, DoesNotDependOnTheNumberOfThreads) {
  const auto text = dictionary_text(700);
  const auto table = [&](int threads) {
    const Threads set(threads);
    return lexical_table(text, LexicalTableOptions());
  };
  const auto expected = table(1);
  for (const int threads : {2, 5}) {
    const auto found = table(threads);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].target, expected[i].target);
      EXPECT_EQ(found[i].probability, expected[i].probability);
    }
  }
}

TEST(LexicalTable, HasTheRelativeFrequenciesOfLinks) {
  const std::vector<TokenPair> pairs{{{4, 5}, {7, 8}}, {{4}, {9}}};
  const std::vector<std::vector<Link>> links{{{0, 1}, {1, 0}, {0, 0}}, {{0, 0}}};
  const auto entries = lexical_table(pairs, links, LexicalTableOptions{.best = 2});
  std::vector<std::pair<int32_t, float>> of_4, of_5;
  for (const LexicalEntry& entry : entries)
    if (entry.source >= 0)
      (entry.source == 4 ? of_4 : of_5).emplace_back(entry.target, entry.probability);
  EXPECT_EQ(of_4, (std::vector<std::pair<int32_t, float>>{{7, 1.0f / 3}, {8, 1.0f / 3}}));
  EXPECT_EQ(of_5, (std::vector<std::pair<int32_t, float>>{{7, 1.0f}}));
  expect_error(
      [&] {
        lexical_table(pairs, {links.data(), 1}, LexicalTableOptions());
      },
      "2 pairs of sentences have 1 alignments");
}

TEST(LexicalTable, RefusesNegativeTokens) {
  const std::vector<TokenPair> pairs{{{4, -1}, {7}}};
  expect_error([&] { lexical_table(pairs, LexicalTableOptions()); }, "a token is -1");
}

}  // namespace
}  // namespace heed::data
