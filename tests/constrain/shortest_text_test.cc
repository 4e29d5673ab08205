#include "heed/constrain/shortest_text.h"

#include <gtest/gtest.h>

#include <map>

#include "heed/constrain/matcher.h"
#include "heed/constrain/schema/json_schema.h"

namespace heed::constrain {
namespace {

struct Shortest {
  uint32_t length;
  std::string text;
};

/// Behind `begin`.
Shortest shortest(const std::shared_ptr<const Constraint>& constraint, std::string_view begin) {
  Shortest found;
  constraint->with_automaton([&](Constraint::Automaton& automaton, uint64_t) {
    Recognizer& recognizer = automaton.recognizer();
    uint32_t state = recognizer.start();
    for (const char byte : begin) state = recognizer.next(state, static_cast<uint8_t>(byte));
    ShortestText& texts = automaton.shortest_text();
    found = {texts.length(state), texts.text(state)};
    // What remains behind each part of it is the rest of it.
    for (size_t i = 0; i < found.text.size(); ++i) {
      EXPECT_EQ(texts.text(state), found.text.substr(i));
      state = recognizer.next(state, static_cast<uint8_t>(found.text[i]));
    }
    EXPECT_TRUE(recognizer.accepting(state));
    EXPECT_EQ(found.length, found.text.size());
  });
  return found;
}

TEST(ShortestText, OfExpressions) {
  EXPECT_EQ(shortest(compile_regex("abc|de|(fgh)*x"), "").text, "x");
  EXPECT_EQ(shortest(compile_regex("(ab){3,5}c"), "aba").text, "babc");
  EXPECT_EQ(shortest(compile_regex("a*"), "aa").text, "");
  EXPECT_EQ(shortest(compile_regex("(?!aa)[a-c]{2,}"), "").text, "ab");
}

TEST(ShortestText, OfGrammarsThatRecurOnEitherSide) {
  const auto left = compile_gbnf(
      "root ::= sum\nsum ::= sum \"+\" term | term\n"
      "term ::= [0-9]+ | \"(\" sum \")\"");
  EXPECT_EQ(shortest(left, "").text, "0");
  EXPECT_EQ(shortest(left, "1+((2").text, "))");
  EXPECT_EQ(shortest(left, "1+((2+").text, "0))");
  const auto right = compile_lark(
      "start: item (\",\" start)?\nitem: /[a-z]+;/ | \"[\" start \"]\"\n"
      "%ignore /#+!/");
  EXPECT_EQ(shortest(right, "b;,[c").text, ";]");
  EXPECT_EQ(shortest(right, "b;,[c;##").text, "!]");
}

TEST(ShortestText, OfSchemas) {
  const auto constraint = compile_json_schema(R"({
      "type": "object", "required": ["name", "next"],
      "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"},
                     "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}})");
  EXPECT_EQ(shortest(constraint, "").text, R"({"name":"  ","next":null})");
  EXPECT_EQ(shortest(constraint, R"({"name": "x)").text, R"( ","next":null})");
  EXPECT_EQ(shortest(constraint, R"({"name": "xyz", "next": {)").text,
            R"("name":"  ","next":null}})");
}

TEST(ShortestText, IsSpelledByTheLongestTokens) {
  const auto constraint = compile_regex("abcab(xyz)+");
  const auto vocabulary =
      Vocabulary::of({"", "a", "b", "c", "x", "y", "z", "abc", "abx", "yz"}, {0});
  Matcher matcher(constraint, vocabulary);
  // abc abx yz
  EXPECT_FALSE(matcher.can_end_within(2));
  EXPECT_TRUE(matcher.can_end_within(3));
  std::vector<int32_t> tokens;
  while (!matcher.is_accepting()) {
    tokens.push_back(matcher.closing_token());
    EXPECT_TRUE(matcher.accept(tokens.back()));
  }
  EXPECT_EQ(tokens, (std::vector<int32_t>{7, 8, 9}));
  EXPECT_TRUE(matcher.can_end_within(0));
  // "q" has no token.
  Matcher unspelled(compile_regex("abc|aqqq"), Vocabulary::of({"", "a", "b", "c"}, {0}));
  EXPECT_TRUE(unspelled.can_end_within(3));
}

}  // namespace
}  // namespace heed::constrain
