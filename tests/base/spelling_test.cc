#include "heed/base/spelling.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Spelling, CountsLettersThatAreInsertedDeletedReplacedOrExchanged) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("seed", "seed"), 0u);
  EXPECT_EQ(edit_distance("", "top_k"), 5u);
  EXPECT_EQ(edit_distance("stop", "top"), 1u);
  EXPECT_EQ(edit_distance("top_p", "top_k"), 1u);
  EXPECT_EQ(edit_distance("temprature", "temperature"), 1u);
  EXPECT_EQ(edit_distance("seed", "sede"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  // "ac" of the exchanged "ca" is not changed again.
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

}  // namespace
}  // namespace heed
