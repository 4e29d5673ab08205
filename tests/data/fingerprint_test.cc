#include "heed/data/fingerprint.h"

#include <gtest/gtest.h>

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;
using Pairs = std::vector<SentencePair>;

Fingerprint fingerprint_of_pairs(const Pairs& pairs) {
  Fingerprint fingerprint;
  for (const SentencePair& pair : pairs) add_pair(pair, fingerprint);
  return fingerprint;
}

TEST(Fingerprint, DiffersForEveryChangeOfTheText) {
  const Fingerprint text = fingerprint_of(Texts{"in the beginning", "was the word", ""});
  EXPECT_EQ(text.count, 3);
  EXPECT_EQ(text, fingerprint_of(Texts{"in the beginning", "was the word", ""}));
  for (const Texts& other : {Texts{"in the beginning", "was the worD", ""},  // a letter
                             Texts{"was the word", "in the beginning", ""},  // the order
                             Texts{"in the beginnin", "gwas the word", ""},  // where a text ends
                             Texts{"in the beginning", "was the word"},      // one is missing
                             Texts{"in the beginning", std::string("was the word\0", 13), ""}})
    EXPECT_NE(text, fingerprint_of(other));
  EXPECT_NE(text.hash, fingerprint_of(Texts{"in the beginning", "", "was the word"}).hash);
}

TEST(Fingerprint, DistinguishesTheSidesOfAPair) {
  const Fingerprint pairs = fingerprint_of_pairs(Pairs{{"one", "uno"}, {"two", "dos"}});
  EXPECT_EQ(pairs.count, 2);
  EXPECT_EQ(pairs, fingerprint_of_pairs(Pairs{{"one", "uno"}, {"two", "dos"}}));
  EXPECT_NE(pairs, fingerprint_of_pairs(Pairs{{"uno", "one"}, {"two", "dos"}}));
  EXPECT_NE(pairs, fingerprint_of_pairs(Pairs{{"oneu", "no"}, {"two", "dos"}}));
}

// Checkpoints store it.
TEST(Fingerprint, IsStableAcrossVersions) {
  EXPECT_EQ(fingerprint_of(Texts{"in the beginning"}).hash, 14390271432879620068u);
}

}  // namespace
}  // namespace heed::data
