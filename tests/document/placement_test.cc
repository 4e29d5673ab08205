// What Document::with() guarantees for any translation and any alignment.
#include <gtest/gtest.h>

#include <random>

#include "heed/error.h"
#include "tests/document/testing.h"

namespace heed::document {
namespace {

std::string with(const std::string& html, const TranslatedSegment& translation) {
  return translated(html, Format::html, [&](const Segment&) { return translation; });
}

/// How often `part` is in `text`.
size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

TEST(Placement, AnElementEnclosesTheShortestStretchOfItsWords) {
  // do not go -> ne va pas; "not" is two words.
  EXPECT_EQ(with("do <b>not</b> go",
                 {"ne va pas", {{{3, 6}, {0, 2}}, {{7, 9}, {3, 5}}, {{3, 6}, {6, 9}}}}),
            "<b>ne va pas</b>");
  // Where elements cross, each has its longest run.
  EXPECT_EQ(
      with("<i>a b</i> <b>c d</b>",
           {"A C B D", {{{0, 1}, {0, 1}}, {{4, 5}, {2, 3}}, {{2, 3}, {4, 5}}, {{6, 7}, {6, 7}}}}),
      "<i>A</i> <b>C</b> B D");
}

TEST(Placement, PlaceholdersThatTouchEachOtherAreAllKept) {
  const std::string text = "stone %1$shttps://example.org/a?b=c burns";
  const std::string found = translated(text, Format::text, [](const Segment&) {
    return TranslatedSegment{"x", {}};
  });
  for (const std::string part : {"%1$s", "https://example.org/a?b=c"})
    EXPECT_EQ(count(found, part), 1u) << found;
}

TEST(Placement, PunctuationStaysOutsideOfAnElement) {
  EXPECT_EQ(with("see <b>it</b>, now",
                 {"sieh es, jetzt", {{{0, 3}, {0, 4}}, {{4, 7}, {5, 8}}, {{8, 11}, {9, 14}}}}),
            "sieh <b>es</b>, jetzt");
}

TEST(Placement, PlaceholdersAreTakenFromTheTranslation) {
  // LibreTranslate#123 and #944.
  EXPECT_EQ(with("Hello %1$s, good to see you!", {"Hallo %1$s, schön!", {}}), "Hallo %1$s, schön!");
  EXPECT_EQ(with("Hello %1$s, good to see you!", {"Hallo % 1 $ S, schön!", {}}),
            "Hallo %1$s, schön!");
  EXPECT_EQ(with("<span style=\"color:%2$s;\">%1$s</span> dabbas", {"dabbas", {{{5, 11}, {0, 6}}}}),
            "<span style=\"color:%2$s;\">%1$s</span> dabbas");
  EXPECT_EQ(with("lives in {{person.city}} now", {"lebt jetzt in {{ Person.city }}", {}}),
            "lebt jetzt in {{person.city}}");
}

TEST(Placement, PlaceholdersReplaceTheWordsAlignedWithThem) {
  EXPECT_EQ(with("see http://a.b/c now",
                 {"sieh http jetzt", {{{0, 3}, {0, 4}}, {{4, 16}, {5, 9}}, {{17, 20}, {10, 15}}}}),
            "sieh http://a.b/c jetzt");
}

TEST(Placement, PlaceholdersThatWereLostStandBesideTheirNeighbours) {
  EXPECT_EQ(with("a {x} b", {"A B", {{{0, 1}, {0, 1}}, {{6, 7}, {2, 3}}}}), "A {x} B");
  EXPECT_EQ(with("a {x} b", {"A B", {}}), "A {x} B");
}

TEST(Placement, InventedAndRepeatedPlaceholdersAreRemoved) {
  EXPECT_EQ(with("a {x} b", {"{y} A {x} {x} B %s", {}}), "A {x} B");
  EXPECT_EQ(with("mail me@a.b today", {"me@a.b me@a.b heute", {}}), "me@a.b heute");
}

TEST(Placement, AKeptPartOutsideOfItsElementIsMovedIntoIt) {
  // The longest run of the first element's words is "a b c".
  EXPECT_EQ(with("<i><code>x y</code> a b c</i> <b>d</b>", {"x y d a b c",
                                                            {{{0, 3}, {0, 3}},
                                                             {{10, 11}, {4, 5}},
                                                             {{4, 5}, {6, 7}},
                                                             {{6, 7}, {8, 9}},
                                                             {{8, 9}, {10, 11}}}}),
            "<b>d</b> <i><code>x y</code> a b c</i>");
}

TEST(Placement, NumbersAreKeptIfAsked) {
  const auto translate = [](const Segment& segment) {
    return TranslatedSegment{segment.kept.empty() ? "drei" : "drei 1.50", {}};
  };
  EXPECT_EQ(translated("three 1.50", Format::text, translate, {.numbers = true}), "drei 1.50");
  EXPECT_EQ(translated("three 1.50", Format::text, translate), "drei");
}

TEST(Placement, AnEmptyTranslationKeepsTheSource) {
  EXPECT_EQ(with("<p>a  <b>b</b></p>", {" ", {}}), "<p>a  <b>b</b></p>");
  EXPECT_EQ(with("a", {"{x}", {}}), "a");
}

TEST(Placement, WrongTranslationsAreRefused) {
  EXPECT_THROW(with("a", {"\xFF", {}}), Error);
  EXPECT_THROW(with("a", {"b", {{{0, 2}, {0, 1}}}}), Error);
  EXPECT_THROW(with("a", {"b", {{{1, 0}, {0, 1}}}}), Error);
  EXPECT_THROW(Document::read("a", Format::text).with({}), Error);
}

TEST(Placement, EveryTagAndPlaceholderOccursOnceWhateverTheModelSays) {
  const std::string html =
      "one <b>two <i>three</i> %1$s</b> <a href=\"x\">four {name}</a> <code>five <q>six</q></code> "
      "<img src=y> http://e.x/z &nosuch; seven";
  const std::vector<std::string> words{
      "x",   "%1$s",    "{name}", "five six", "%", "{",    "http://e.x/z", "<b>",
      "été", "% 1 $ s", "five",   "",         "}", "言葉", "{name}{name}", "&"};
  std::minstd_rand random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string result = translated(html, Format::html, [&](const Segment& segment) {
      TranslatedSegment translation;
      for (size_t k = random() % 12; k > 0; --k) {
        const size_t begin = translation.text.size();
        translation.text += words[random() % words.size()];
        const size_t from = random() % segment.text.size(),
                     to = from + random() % (segment.text.size() - from);
        if (random() % 2 == 0)
          translation.alignment.push_back({{from, to}, {begin, translation.text.size()}});
        if (random() % 3 > 0) translation.text += ' ';
      }
      return translation;
    });
    for (const std::string part :
         {"<b>", "</b>", "<i>", "</i>", "%1$s", "<a href=\"x\">", "</a>", "{name}",
          "<code>five <q>six</q></code>", "<img src=y>", "&nosuch;"})
      ASSERT_EQ(count(result, part), 1u) << part << " in " << result;
    ASSERT_GE(count(result, "http://e.x/z"), 1u) << result;
    ASSERT_LT(result.find("<b>"), result.find("<i>")) << result;
    ASSERT_LT(result.find("</i>"), result.find("</b>")) << result;
  }
}

}  // namespace
}  // namespace heed::document
