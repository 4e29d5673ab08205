#include "heed/data/word_alignment.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "heed/data/batch.h"
#include "tests/base/testing.h"

namespace heed::data {
namespace {

using Links = std::vector<Link>;
using Numbers = std::vector<int32_t>;

TEST(WordAlignment, ReadsPharaohsFormat) {
  EXPECT_EQ(parse_pharaoh(""), Links());
  EXPECT_EQ(parse_pharaoh(" 0-1\t12-3 "), (Links{{0, 1}, {12, 3}}));
  for (const char* bad : {"1", "1-", "-1", "1-2-3", "1--2", "a-b", "0-1,1-2", "99999999999-0"})
    expect_error([&] { parse_pharaoh(std::string("0-0 ") + bad); }, "is no link of two words");
}

TEST(WordAlignment, NumbersTheWordsOfPieces) {
  const std::map<int32_t, std::string> pieces{{1, "\u2581the"}, {2, "\u2581sea"}, {3, "s"}};
  const auto piece_of = [&](int32_t token) { return pieces.at(token); };
  EXPECT_EQ(word_numbers({1, 2, 3, 3, 2}, piece_of), (Numbers{0, 1, 1, 1, 2}));
  EXPECT_EQ(word_numbers({3, 3, 2}, piece_of), (Numbers{0, 0, 1}));
}

TEST(WordAlignment, LinksAllTokensOfLinkedWordsInTheOrderOfTheTarget) {
  const Numbers source{0, 0, 1, -1}, target{0, 1, 1, -1};
  EXPECT_EQ(token_links({{1, 0}, {0, 1}, {1, 1}}, source, target),
            (Links{{2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}));
  EXPECT_EQ(token_links({{7, 0}, {0, 7}}, source, target), Links());
}

TEST(WordAlignment, ABatchHasTheAlignedTokensOfEachRowOfTheDecoder) {
  const std::vector<Example> examples{{{4, 5, 1}, {6, 7, 1}, {{1, 0}, {0, 1}, {1, 1}}},
                                      {{4, 1}, {6, 1}},
                                      {{5, 1}, {7, 1}, {{0, 0}}}};
  const int64_t indices[] = {1, 0, 2};
  const Batch batch = make_batch(examples, indices, 0);
  EXPECT_EQ(batch.aligned_offsets, (Numbers{0, 0, 0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(batch.aligned, (Numbers{3, 2, 3, 5}));
  EXPECT_TRUE(make_batch(examples, {indices, 1}, 0).aligned_offsets.empty());
}

TEST(WordAlignment, ABatchRefusesLinksThatLeadOutOfAPair) {
  const int64_t index = 0;
  for (const Links& bad : {Links{{3, 0}}, Links{{0, 2}}, Links{{0, 1}, {0, 0}}}) {
    const std::vector<Example> examples{{{4, 5, 1}, {6, 1}, bad}};
    EXPECT_THROW(make_batch(examples, {&index, 1}, 0), Error);
  }
}

}  // namespace
}  // namespace heed::data
