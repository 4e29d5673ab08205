// Hostile patterns: none may overflow the stack, exhaust memory or take exponential time.
#include <gtest/gtest.h>

#include "heed/text/regex/regex.h"
#include "tests/base/cost.h"
#include "tests/base/fuzz.h"

namespace heed::text {
namespace {

constexpr size_t kTextBytes = kSanitized ? 1 << 14 : 1 << 17;

size_t count(const std::string& pattern, const std::string& text) {
  return Regex(pattern, "test").find_all(text).size();
}

std::string letters(size_t bytes = kTextBytes) { return std::string(bytes, 'a'); }

TEST(RegexLimits, LengthsOfNestedAlternativesAreComputedOnce) {
  expect_cheap([] { count("(?<=" + repeated("(", 16) + "a" + repeated("|b)", 16) + ")a", "ba"); });
  expect_cheap([] { count("(?<=" + repeated("(", 95) + "a" + repeated("|b)", 95) + ")a", "ba"); });
}

TEST(RegexLimits, LimitsQuantifiersInARow) {
  expect_cheap_error([] { Regex("a" + repeated("{1}", 40000), "test"); }, "at most 16384");
  expect_cheap_error([] { Regex("a" + repeated("{1}", 5000), "test"); },
                     "too many quantifiers in a row");
  EXPECT_EQ(count("a" + repeated("{2}", 3), letters(17)), 2u);
}

TEST(RegexLimits, LettersAndClassesTakeLittleMemory) {
  const auto cheap = [](const std::string& pattern) {
    return expect_cheap([&] { count(pattern, letters(1000)); }, 5, 60);
  };
  EXPECT_NE(cheap(repeated("\\w", 300000)).find("at most 16384"), std::string::npos);
  cheap(repeated("\\w", 8000));
  cheap(repeated("x", 16000));
  cheap("(?i)" + repeated("k", 16000));
  cheap("(?i)" + repeated("[a-z]", 3000));
  cheap("[" + repeated("\\w", 8000) + "]");
  cheap("[" + repeated("\\w&&", 4000) + "a]");
  cheap(repeated("[", 95) + repeated("\\W", 5000) + repeated("]", 95));
  std::string different;
  for (int i = 0; different.size() < 16000; ++i) different += fmt::format("[^{:03x}]", i);
  cheap(different);
}

TEST(RegexLimits, DeepNestingIsRefused) {
  expect_cheap_error([] { Regex(repeated("(", 8000), "test"); }, "groups nested too deeply");
  expect_cheap_error([] { Regex(repeated("[", 8000), "test"); }, "classes nested too deeply");
  expect_cheap_error([] { Regex(repeated("(?:", 5000), "test"); }, "groups nested too deeply");
}

TEST(RegexLimits, RepetitionsOfRepetitionsAreCounted) {
  expect_cheap_error([] { Regex("(?:(?:a{999}b){999}c){999}", "test"); }, "too large");
  expect_cheap_error([] { Regex(repeated("[a-z]{0,1000}", 1000), "test"); }, "too large");
  expect_cheap_error([] { Regex(repeated("a?", 1000), "test"); }, "too large");
}

TEST(RegexLimits, ClassicExponentialPatternsTakeLinearTime) {
  const auto matches_of = [](const std::string& pattern, const std::string& text, size_t expected) {
    expect_cheap([&] { EXPECT_EQ(count(pattern, text), expected) << pattern; });
  };
  matches_of(repeated("a?", 30) + repeated("a", 30), letters(30), 1);
  matches_of("(?:a|aa)+b", letters(), 0);
  matches_of(repeated("a{0,9}", 5) + "b", letters(), 0);
  matches_of("a*?a*?a*?b", letters(), 0);
  matches_of("(?:(?:(?:a?b?)?c?)?d?)?e", letters(), 0);
  matches_of(repeated("(?:a|a)", 20) + "b", letters(), 0);
}

TEST(RegexLimits, LookAroundsTakeLinearTime) {
  const auto matches_of = [](const std::string& pattern, const std::string& text, size_t expected) {
    expect_cheap([&] { EXPECT_EQ(count(pattern, text), expected) << pattern; });
  };
  matches_of("(?=(?:a|aa)+b)a", letters(), 0);
  matches_of("(?=(?:a|b)*c)a", letters(), 0);
  matches_of("(?=(?:a|b)*c)a", letters() + "c", kTextBytes);
  matches_of("(?=a*c)a", letters() + "c", kTextBytes);
  matches_of("(?!(?:a|aa)*c)a", letters(), kTextBytes);
  matches_of("(?!(?:a|aa)*c)a", letters() + "c", 0);
  // Groups of three digits from the right, as some tokenizers cut numbers.
  matches_of("\\d{1,3}(?=(?:\\d{3})*\\b)", std::string(3 * 50000, '7'), 50000);
  matches_of("(?>(?:a|aa)+b)a", letters(), 0);
}

TEST(RegexLimits, RefusesMatchingThatTakesTooLong) {
  expect_cheap_error([] { count("(?>(?:a|b)*)c", letters()); }, "takes more than");
  expect_cheap_error([] { count(repeated("a", 15000) + "b", letters()); }, "takes more than");
}

/// A random pattern that does not match a q or a line end.
std::string random_pattern(Dice& dice, int depth) {
  constexpr const char* kAtoms[] = {"a", "b", "c", "é", "[ab]", "\\w&&[^q]", "^", "\\b", "A", " "};
  constexpr const char* kGroups[] = {"(", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?i:"};
  constexpr const char* kQuantifiers[] = {"?",  "*",  "+",   "??",    "*?",    "+?",   "?+",
                                          "*+", "++", "{2}", "{1,3}", "{0,2}", "{2,}", "{0,2}?"};
  std::string pattern;
  for (size_t part = 0; part == 0 || dice.below(3); ++part) {
    const size_t atom = dice.below(std::size(kAtoms));
    if (part > 0 && dice.below(4) == 0) pattern += '|';
    if (depth > 0 && dice.below(3) == 0)
      pattern += kGroups[dice.below(std::size(kGroups))] + random_pattern(dice, depth - 1) + ')';
    else
      pattern += atom == 5 ? "[" + std::string(kAtoms[atom]) + "]" : kAtoms[atom];
    if (dice.below(3) == 0) pattern += kQuantifiers[dice.below(std::size(kQuantifiers))];
  }
  return pattern;
}

std::vector<std::pair<size_t, size_t>> spans(const std::string& pattern, const std::string& text,
                                             size_t from) {
  std::vector<std::pair<size_t, size_t>> found;
  for (const TextSpan span : Regex(pattern, "test").find_all(text))
    if (span.begin >= from) found.emplace_back(span.begin - from, span.end - from);
  return found;
}

TEST(RegexLimits, RememberingOutcomesDoesNotChangeMatches) {
  constexpr const char* kLetters[] = {"a", "b", "c", "é", " ", "A"};
  // Matching these takes so many attempts that outcomes are remembered for the text after them.
  const std::string before = std::string(40, 'q') + '\n';
  int compared = 0;
  for (uint64_t number = 0; number < 1500; ++number) {
    Dice dice(number);
    const std::string pattern = random_pattern(dice, 3);
    std::string text;
    for (size_t length = 1 + dice.below(30); length > 0; --length) text += kLetters[dice.below(6)];
    try {
      const auto expected = spans(pattern, text, 0);
      EXPECT_EQ(spans("(?:q|qq)+Z|" + pattern, before + text, before.size()), expected)
          << pattern << " on " << text;
      ++compared;
    } catch (const Error&) {
      // A repetition of a group that can be empty, a look-behind of variable length.
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace heed::text
