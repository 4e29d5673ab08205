#include "heed/generate/stop_strings.h"

#include <gtest/gtest.h>

namespace heed::generate {
namespace {

/// The output for a text fed in pieces of `size` bytes.
std::string fed(StopStrings& stop, const std::string& text, size_t size) {
  std::string released;
  for (size_t i = 0; i < text.size(); i += size) released += stop.feed(text.substr(i, size));
  return released;
}

TEST(StopStrings, TheTextBeforeTheFirstIsReleasedForAnySizeOfPieces) {
  for (size_t size = 1; size < 20; ++size) {
    StopStrings stop({"\n\nUser:", "END", ""});
    EXPECT_EQ(fed(stop, "one\n\ntwo EN EENDless\n\nUser: three", size), "one\n\ntwo EN E") << size;
    EXPECT_EQ(stop.found(), "END");
    EXPECT_EQ(stop.finish(), "");
  }
}

TEST(StopStrings, OfTwoAtTheSamePlaceTheFirstInTheListIsFound) {
  StopStrings stop({"ab", "abc", "c"});
  EXPECT_EQ(stop.feed("xabc"), "x");
  EXPECT_EQ(stop.found(), "ab");
}

TEST(StopStrings, TextThatMayBecomeAStopStringIsHeldBack) {
  StopStrings stop({"aab"});
  EXPECT_EQ(stop.feed("xa"), "x");
  EXPECT_EQ(stop.feed("a"), "");
  EXPECT_EQ(stop.feed("a"), "a");
  EXPECT_EQ(stop.feed("c"), "aac");
  EXPECT_EQ(stop.feed("aa"), "");
  EXPECT_EQ(stop.finish(), "aa");
  EXPECT_FALSE(stop.found());
}

TEST(StopStrings, HiddenTextIsSearchedButNotReleased) {
  StopStrings stop({"b<end>", "<over>"});
  EXPECT_EQ(stop.feed("a"), "a");
  EXPECT_EQ(stop.feed("<end>", true), "");
  EXPECT_EQ(stop.feed("ab"), "a");
  EXPECT_EQ(stop.feed("<en", true), "");
  EXPECT_EQ(stop.feed("!"), "b!");
  EXPECT_EQ(stop.feed("ab"), "a");
  EXPECT_EQ(stop.feed("<end>", true), "");
  EXPECT_EQ(stop.found(), "b<end>");
}

TEST(StopStrings, HiddenTextThatIsHeldBackIsNotPartOfTheRest) {
  StopStrings stop({"x<end>y"});
  EXPECT_EQ(stop.feed("x"), "");
  EXPECT_EQ(stop.feed("<end>", true), "");
  EXPECT_EQ(stop.finish(), "x");
}

TEST(StopStrings, WithoutStopStringsAllTextIsReleased) {
  StopStrings stop({});
  EXPECT_EQ(stop.feed("text"), "text");
}

}  // namespace
}  // namespace heed::generate
