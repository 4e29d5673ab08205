#include "heed/constrain/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include "heed/base/error.h"
#include "tests/constrain/random_grammar.h"

namespace heed::constrain {
namespace {

bool allowed(Matcher& matcher, int32_t token) {
  std::vector<uint64_t> bits(matcher.vocabulary().mask_words());
  matcher.mask(bits);
  return ((bits[static_cast<size_t>(token) / 64] >> (token % 64)) & 1) != 0;
}

// Compares the mask with what becomes of each token alone.
void expect_exact_mask(Matcher& matcher, const std::string& where) {
  const Vocabulary& vocabulary = matcher.vocabulary();
  std::vector<uint64_t> bits(vocabulary.mask_words());
  matcher.mask(bits);
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const bool in_mask = ((bits[static_cast<size_t>(token) / 64] >> (token % 64)) & 1) != 0;
    Matcher copy = matcher;
    ASSERT_EQ(copy.accept(token), in_mask)
        << where << ", token " << token << " \"" << vocabulary.bytes(token) << '"';
  }
}

std::shared_ptr<const Vocabulary> random_vocabulary(uint32_t seed, std::string_view letters) {
  std::mt19937 random(seed);
  std::vector<std::string> tokens = {"", ""};
  for (const char letter : letters) tokens.emplace_back(1, letter);
  while (tokens.size() < 152) {
    std::string token;
    for (size_t length = 1 + random() % 6; token.size() < length;) {
      token += letters[random() % letters.size()];
    }
    tokens.push_back(token);
  }
  return Vocabulary::of(std::move(tokens), {1});
}

TEST(Matcher, MasksAreWhatEachTokenAloneShows) {
  std::mt19937 random(5);
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const auto [constraint, language] = random_grammar(seed, seed % 2 == 0);
    if (constraint == nullptr || language.empty()) continue;
    const auto vocabulary = random_vocabulary(seed, "ab");
    Matcher matcher(constraint, vocabulary);
    for (int step = 0; step < 6; ++step) {
      expect_exact_mask(matcher, "seed " + std::to_string(seed));
      if (::testing::Test::HasFatalFailure()) return;
      for (int tries = 0; tries < 30; ++tries) {
        if (matcher.accept(static_cast<int32_t>(2 + random() % 150))) break;
      }
    }
  }
}

// A string as in JSON, whose masks consist of slices, with a limit, and with excluded values.
TEST(Matcher, MasksOfStringsAreExact) {
  GrammarBuilder builder;
  Expressions& e = builder.expressions();
  const ExpressionId character =
      e.alternate(slice_character(e), e.concatenate(e.literal("\\"), e.one_of({"n", "\"", "\\"})));
  const auto string_of = [&](uint32_t max) {
    const std::array parts = {e.literal("\""), e.repeat(character, 0, max), e.literal("\"")};
    return e.concatenate(parts);
  };
  const ExpressionId key =
      e.intersect(string_of(Expressions::kUnbounded), e.complement(e.one_of({"\"ab\"", "\"bc\""})));
  const Symbol number = builder.terminal(e.repeat(e.bytes(ByteSet::range('0', '9')), 1, 4));
  const Symbol item = builder.choice({builder.terminal(string_of(5)), number});
  const Symbol start =
      builder.sequence({builder.terminal(key), builder.terminal(e.literal(":")), item,
                        builder.repeat(builder.sequence({builder.terminal(e.literal(",")), item}),
                                       0, Expressions::kUnbounded)});
  const auto constraint = std::make_shared<const Constraint>(std::move(builder), start);
  const std::string letters = "abc\"\\n:,12 \xC3\xA9\xE2\x82\xAC";
  std::mt19937 random(6);
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Matcher matcher(constraint, random_vocabulary(seed, letters));
    for (int step = 0; step < 12; ++step) {
      expect_exact_mask(matcher, "seed " + std::to_string(seed));
      if (::testing::Test::HasFatalFailure()) return;
      for (int tries = 0; tries < 50; ++tries) {
        if (matcher.accept(static_cast<int32_t>(2 + random() % 150))) break;
      }
    }
  }
}

std::shared_ptr<const Constraint> greeting() {
  GrammarBuilder builder;
  Expressions& e = builder.expressions();
  const Symbol start = builder.sequence({builder.terminal(e.literal("{\"name\": ")),
                                         builder.terminal(e.one_of({"cat", "car"})),
                                         builder.terminal(e.literal("}"))});
  return std::make_shared<const Constraint>(std::move(builder), start);
}

TEST(Matcher, GoesBackAndCopies) {
  const auto vocabulary =
      Vocabulary::of({"</s>", "{\"na", "me\": ", "ca", "t", "r", "}", "t}", "", "me\": "}, {0});
  Matcher matcher(greeting(), vocabulary);
  EXPECT_EQ(matcher.forced_bytes(), "{\"name\": ca");
  EXPECT_EQ(matcher.forced_bytes(3), "{\"n");
  EXPECT_TRUE(matcher.accept(1));
  EXPECT_TRUE(allowed(matcher, 2));
  EXPECT_TRUE(allowed(matcher, 9));  // the same bytes
  EXPECT_FALSE(allowed(matcher, 8));
  EXPECT_FALSE(matcher.accept(3));
  EXPECT_TRUE(matcher.accept(2));
  EXPECT_TRUE(matcher.accept(3));
  Matcher copy = matcher;
  EXPECT_TRUE(matcher.accept(7));
  EXPECT_TRUE(matcher.is_accepting());
  EXPECT_TRUE(matcher.is_complete());
  EXPECT_TRUE(allowed(matcher, 0));
  EXPECT_FALSE(copy.is_accepting());
  EXPECT_FALSE(copy.accept(0));
  EXPECT_TRUE(matcher.accept(0));
  EXPECT_FALSE(allowed(matcher, 0));
  EXPECT_FALSE(matcher.accept(0));
  matcher.rollback(3);
  EXPECT_EQ(matcher.accept_bytes("caXYZ"), 2U);
  EXPECT_EQ(matcher.accept_bytes("car}"), 4U);
  EXPECT_EQ(copy.accept_bytes("r}"), 2U);
  EXPECT_THROW(copy.rollback(5), Error);
  copy.rollback(4);
  EXPECT_EQ(copy.forced_bytes(), "{\"name\": ca");
}

TEST(Matcher, EndTokensHaveNoBytes) {
  const auto vocabulary = Vocabulary::of({"cat", "ca", "t"}, {0});
  Matcher matcher(compile_choice(std::array{std::string("cat"), std::string("car")}), vocabulary);
  EXPECT_FALSE(matcher.accept(0));
  EXPECT_TRUE(matcher.accept(1));
  EXPECT_TRUE(matcher.accept(2));
  EXPECT_TRUE(matcher.accept(0));
  EXPECT_THROW(Vocabulary::of({"a"}, {1}), Error);
  EXPECT_THROW(Vocabulary::of({std::string(Vocabulary::kMaxTokenBytes + 1, 'a')}, {}), Error);
  EXPECT_THROW(compile_choice({}), Error);
}

TEST(Matcher, RefusesAVocabularyThatCannotSpellWhatIsRequired) {
  const auto vocabulary = Vocabulary::of({"a", "b", "ab"}, {});
  EXPECT_NO_THROW(Matcher(compile_regex("[abc]x?"), vocabulary));
  for (const char* pattern : {"a+x", "(x|x?xb)a", "[^a-w]*xa"}) {
    try {
      Matcher(compile_regex(pattern), vocabulary);
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "the vocabulary cannot spell what the constraint requires: no token holds the "
                   "byte 0x78");
    }
  }
  EXPECT_THROW(Matcher(compile_regex("x|y"), vocabulary), Error);
}

// Wherever an a, b or c stands matters for long. Each token leads to a state of its own.
TEST(Matcher, StopsAMaskThatTakesTooManySteps) {
  std::vector<std::string> tokens;
  for (int number = 0; number < 6561; ++number) {
    std::string token;
    for (int rest = number, i = 0; i < 8; ++i, rest /= 3) token += "abc"[rest % 3];
    tokens.push_back(token);
  }
  const auto vocabulary = Vocabulary::of(std::move(tokens), {});
  const auto constraint = compile_regex("(?!.*(a.{14}|b.{15}|c.{16})).*");
  Matcher matcher(constraint, vocabulary);
  std::vector<uint64_t> mask(vocabulary->mask_words());
  try {
    for (int i = 0; i < 3; ++i) {
      matcher.mask(mask);
      ASSERT_TRUE(matcher.accept(i * 1000 + 17));
    }
    ADD_FAILURE();
  } catch (const TooManySteps& error) {
    EXPECT_STREQ(error.what(),
                 "the constraint is too complex: what may follow here takes more than 1048576 "
                 "steps to find");
  }
  // The limit is one of each call: the constraint remains of use, and a text may be long.
  EXPECT_EQ(Matcher(constraint, vocabulary).accept_bytes("abc"), 3u);
  const std::string long_text(1000000, 'a');
  EXPECT_EQ(
      Matcher(compile_gbnf("root ::= \"a\" root | \"b\""), vocabulary).accept_bytes(long_text),
      long_text.size());
}

// No token is "a" alone. Whatever masks allow can be spelled to an end, and what they forbid
// cannot.
TEST(Matcher, AllowsNoTokenBehindWhichNothingCanBeSpelled) {
  int dead_ends = 0, refused = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const auto [constraint, language] = random_grammar(seed, true);
    if (constraint == nullptr || language.empty()) continue;
    const std::array<std::vector<std::string>, 3> vocabularies = {
        {{"", "b", "ba"}, {"", "ab", "bba", "baa"}, {"", "aab", "ba", "bb"}}};
    const auto vocabulary = Vocabulary::of(vocabularies[seed % 3], {0});
    // Whether tokens go on with a text to one of the language of at most six letters.
    const auto can_end = [&, &all = PlainLanguage::texts(), &language = language](
                             const auto& self, const std::string& text) -> bool {
      if (text.size() > PlainLanguage::kMaxLength) return false;
      const auto at = std::ranges::find(all, text) - all.begin();
      bool found = language.contains(static_cast<size_t>(at));
      for (int32_t token = 1; token < vocabulary->size() && !found; ++token) {
        found = self(self, text + std::string(vocabulary->bytes(token)));
      }
      return found;
    };
    std::optional<Matcher> first;
    try {
      first.emplace(constraint, vocabulary);
    } catch (const Error& error) {
      EXPECT_FALSE(can_end(can_end, "")) << "seed " << seed << ": " << error.what();
      ++refused;
      continue;
    }
    const auto check = [&](const auto& self, Matcher& matcher, const std::string& text) -> void {
      bool goes_on = matcher.is_accepting();
      for (int32_t token = 1; token < vocabulary->size(); ++token) {
        const std::string longer = text + std::string(vocabulary->bytes(token));
        if (longer.size() > 5) return;
        const bool in_mask = allowed(matcher, token);
        goes_on = goes_on || in_mask;
        Matcher copy = matcher;
        ASSERT_EQ(copy.accept(token), in_mask) << "seed " << seed << ", " << longer;
        if (in_mask) {
          self(self, copy, longer);
          continue;
        }
        EXPECT_FALSE(can_end(can_end, longer)) << "seed " << seed << ", " << longer;
        dead_ends += copy.accept_bytes(vocabulary->bytes(token)) > 0 ? 1 : 0;
      }
      EXPECT_TRUE(goes_on) << "seed " << seed << ", " << text;
    };
    check(check, *first, "");
  }
  EXPECT_GT(dead_ends, 20);
  EXPECT_GT(refused, 20);
}

TEST(Matcher, NamesWhatTokensCannotSpell) {
  // There are tokens with an "l", and none that is one.
  const auto vocabulary = Vocabulary::of({"nu", "nul", "[", "]", "\xC3\xA9", "e", "li"}, {});
  const auto message = [&](const char* pattern) -> std::string {
    try {
      Matcher(compile_regex(pattern), vocabulary);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message("null"),
            "the vocabulary cannot spell what the constraint requires: no tokens spell \"l\" in "
            "\"null\"");
  EXPECT_EQ(message("\\[nule*\\]|\\[null\\]"), "");
  EXPECT_EQ(message("\\[(\xC3\xA9|\xC3\xA8)\\]"), "");
  EXPECT_EQ(message("\xC3\xA9l"),
            "the vocabulary cannot spell what the constraint requires: no tokens spell \"l\" in "
            "\"\u00e9l\"");
  // Behind "[" a "nu" could only be gone on with by "ll".
  Matcher matcher(compile_regex("\\[(null|nul|nulli|e)\\]"), vocabulary);
  ASSERT_TRUE(matcher.accept(2));
  EXPECT_FALSE(allowed(matcher, 0));
  EXPECT_EQ(matcher.why_forbidden(0), "no tokens spell what must follow it");
  EXPECT_TRUE(allowed(matcher, 1));
}

TEST(Matcher, SaysWhyATokenIsForbidden) {
  const auto vocabulary = Vocabulary::of(
      {"", "nu", "nul", "nx", "true", "]", " ", special_token_text("<think>"), "12", "[", "l"},
      {0});
  Matcher matcher(compile_regex(R"(\[(null|true|-?[0-9]+|[é-ü])\])"), vocabulary);
  EXPECT_EQ(matcher.why_forbidden(1), "\"n\" cannot follow; expected \"[\"");
  ASSERT_EQ(matcher.accept_bytes("["), 1u);
  EXPECT_EQ(matcher.why_forbidden(1), "");
  EXPECT_EQ(matcher.why_forbidden(2), "");
  EXPECT_EQ(matcher.why_forbidden(3), "\"x\" cannot follow behind \"n\"; expected \"u\"");
  EXPECT_EQ(
      matcher.why_forbidden(6),
      "\" \" cannot follow; expected \"-\", \"0\"-\"9\", \"n\", \"t\", characters beyond ASCII");
  EXPECT_EQ(matcher.why_forbidden(7), "a token without text cannot follow");
  EXPECT_EQ(matcher.why_forbidden(0), "the text cannot end here");
  ASSERT_TRUE(matcher.accept(8));
  EXPECT_EQ(matcher.why_forbidden(4), "\"t\" cannot follow; expected \"0\"-\"9\", \"]\"");
  ASSERT_TRUE(matcher.accept(5));
  EXPECT_EQ(matcher.why_forbidden(4), "\"t\" cannot follow; expected the end");
  EXPECT_EQ(matcher.why_forbidden(0), "");
}

}  // namespace
}  // namespace heed::constrain
