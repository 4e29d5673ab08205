#include "heed/text/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

namespace heed::text {
namespace {

TEST(Vocabulary, FindsEveryPieceAfterGrowingWithoutReserve) {
  constexpr int32_t kPieces = 5000;
  Vocabulary vocabulary;
  for (int32_t id = 0; id < kPieces; ++id) vocabulary.add("piece " + std::to_string(id), id);
  EXPECT_EQ(vocabulary.count(), kPieces);
  for (int32_t id = 0; id < kPieces; ++id) {
    const std::string piece = "piece " + std::to_string(id);
    ASSERT_EQ(vocabulary.find(piece), id);
    ASSERT_EQ(*vocabulary.piece(id), piece);
  }
  EXPECT_EQ(vocabulary.find("piece 5000"), std::nullopt);
}

TEST(Vocabulary, ReserveDoesNotChangeWhatIsFound) {
  Vocabulary vocabulary;
  vocabulary.add("a", 0);
  vocabulary.reserve(100000);
  vocabulary.add("b", 1);
  vocabulary.reserve(1);
  EXPECT_EQ(vocabulary.find("a"), 0);
  EXPECT_EQ(vocabulary.find("b"), 1);
}

TEST(Vocabulary, APieceWithTwoIdsIsFoundUnderTheLast) {
  Vocabulary vocabulary;
  vocabulary.add("twice", 3);
  vocabulary.add("twice", 7);
  EXPECT_EQ(vocabulary.find("twice"), 7);
  EXPECT_EQ(*vocabulary.piece(3), "twice");
  EXPECT_EQ(*vocabulary.piece(7), "twice");
  EXPECT_EQ(vocabulary.count(), 1);
  EXPECT_EQ(vocabulary.end(), 8);
}

TEST(Vocabulary, AnIdWithoutAPieceHasNone) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.find("a"), std::nullopt);
  EXPECT_EQ(vocabulary.piece(0), nullptr);
  vocabulary.add("a", 2);
  EXPECT_EQ(vocabulary.piece(0), nullptr);
  EXPECT_EQ(vocabulary.piece(-1), nullptr);
  EXPECT_EQ(vocabulary.piece(3), nullptr);
}

}  // namespace
}  // namespace heed::text
