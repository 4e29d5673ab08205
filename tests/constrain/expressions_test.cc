#include "heed/constrain/expressions.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/constrain/plain_language.h"

namespace heed::constrain {
namespace {

ExpressionId letters(Expressions& expressions, std::string_view members) {
  ByteSet set;
  for (const char letter : members) set.add(static_cast<uint8_t>(letter));
  return expressions.bytes(set);
}

TEST(Expressions, MatchWhatTheirDefinitionSays) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Expressions expressions;
    RandomLanguage random(expressions, seed);
    const auto [expression, language] = random.expression(4);
    const std::vector<std::string>& texts = PlainLanguage::texts();
    for (size_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(expressions.matches(expression, texts[i]), language.contains(i))
          << "seed " << seed << ", text " << texts[i];
    }
  }
}

TEST(Expressions, AreEmptyExactlyIfNoTextMatches) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Expressions expressions;
    RandomLanguage random(expressions, seed);
    const auto [expression, language] = random.expression(3);
    // What matches no text at all matches no short one.
    if (expressions.is_empty(expression)) {
      EXPECT_TRUE(language.empty()) << "seed " << seed;
    } else if (expressions.max_length(expression) <= PlainLanguage::kMaxLength) {
      EXPECT_FALSE(language.empty()) << "seed " << seed;
    }
  }
}

TEST(Expressions, BytesThatAreAlikeHaveOneDerivative) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Expressions expressions;
    const ExpressionId expression = RandomLanguage(expressions, seed).expression(4).first;
    for (const uint8_t byte : {'a', 'b', 'c'}) {
      const ByteSet alike = expressions.alike(expression, byte);
      EXPECT_TRUE(alike.contains(byte));
      for (int other = 0; other < 256; ++other) {
        if (!alike.contains(static_cast<uint8_t>(other))) continue;
        ASSERT_EQ(expressions.derivative(expression, static_cast<uint8_t>(other)),
                  expressions.derivative(expression, byte))
            << "seed " << seed << ", bytes " << other << " and " << int{byte};
      }
    }
  }
  Expressions e;
  EXPECT_EQ(e.alike(e.repeat(letters(e, "xyz"), 2, 9), 'y').count(), 3);
}

TEST(Expressions, AreStoredOnce) {
  Expressions e;
  const ExpressionId a = e.literal("a"), b = e.literal("b"), ab = letters(e, "ab");
  EXPECT_EQ(e.alternate(a, b), ab);
  EXPECT_EQ(e.alternate(e.literal("xa"), e.literal("xb")), e.concatenate(e.literal("x"), ab));
  EXPECT_EQ(e.alternate(b, a), e.alternate(a, b));
  EXPECT_EQ(e.intersect(ab, a), a);
  EXPECT_EQ(e.complement(e.complement(ab)), ab);
  EXPECT_EQ(e.intersect(ab, e.complement(ab)), e.none());
  EXPECT_EQ(e.alternate(ab, e.complement(ab)), e.any());
  EXPECT_EQ(e.repeat(e.repeat(a, 0, e.kUnbounded), 0, 1000), e.repeat(a, 0, e.kUnbounded));
  EXPECT_EQ(e.repeat(e.repeat(a, 2, 2), 3, 3), e.repeat(a, 6, 6));
  EXPECT_EQ(e.concatenate(e.repeat(a, 1, 2), e.repeat(a, 3, 4)), e.repeat(a, 4, 6));
  EXPECT_EQ(e.alternate(e.repeat(a, 2, 4), e.repeat(a, 5, 9)), e.repeat(a, 2, 9));
  EXPECT_NE(e.alternate(e.repeat(a, 2, 3), e.repeat(a, 5, 9)), e.repeat(a, 2, 9));
}

TEST(Expressions, CountWithoutCopies) {
  Expressions e;
  ExpressionId many = e.repeat(letters(e, "ab"), 0, 1000000);
  EXPECT_LT(e.size(), 20U);
  many = e.derivative(many, 'b');
  EXPECT_EQ(many, e.repeat(letters(e, "ab"), 0, 999999));
}

TEST(Expressions, OneOfSharesBeginningsAndEnds) {
  Expressions e;
  const ExpressionId choice = e.one_of({"cat", "car", "bat", "bar", "", "c", "cat"});
  for (const char* text : {"cat", "car", "bat", "bar", "", "c"}) {
    EXPECT_TRUE(e.matches(choice, text)) << text;
  }
  for (const char* text : {"b", "ca", "cab", "carr", "at"}) {
    EXPECT_FALSE(e.matches(choice, text)) << text;
  }
  EXPECT_EQ(e.one_of({}), e.none());
  std::vector<std::string> staircase;
  for (size_t i = 0; i < 1000; ++i) staircase.push_back(std::string(i, 'a'));
  EXPECT_TRUE(e.matches(e.one_of(staircase), staircase.back()));
}

// Expressions that would take exponential time or memory, or a stack without bound, are refused
// quickly or handled.
TEST(Expressions, RefusesWhatIsTooComplex) {
  Expressions deep;
  ExpressionId nested = deep.literal("a");
  EXPECT_THROW(
      for (int i = 0; i < 100000; ++i) {
        nested = deep.complement(deep.concatenate(deep.optional(nested), deep.literal("b")));
      },
      Error);
  Expressions wide;
  ExpressionId state = wide.any();
  // The n-th letter from the end is an a: 2^n states.
  state = wide.concatenate(
      state, wide.concatenate(wide.literal("a"), wide.repeat(letters(wide, "ab"), 5000, 5000)));
  EXPECT_THROW(
      for (int i = 0; i < 100000;
           ++i) { state = wide.derivative(state, i * i % 7 < 3 ? 'a' : 'b'); },
      Error);
}

TEST(Expressions, ClassesTellApartWhatExpressionsDo) {
  Expressions e;
  const ExpressionId expression = e.concatenate(letters(e, "abc"), letters(e, "cd"));
  const std::array roots = {expression};
  const Expressions::ByteClasses classes = e.byte_classes(roots);
  EXPECT_EQ(classes.representative.size(), 4U);  // ab, c, d, all others
  EXPECT_EQ(classes.class_of['a'], classes.class_of['b']);
  EXPECT_NE(classes.class_of['c'], classes.class_of['d']);
}

}  // namespace
}  // namespace heed::constrain
