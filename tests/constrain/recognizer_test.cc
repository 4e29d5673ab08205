#include "heed/constrain/recognizer.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/error.h"
#include "tests/constrain/random_grammar.h"

namespace heed::constrain {
namespace {

constexpr size_t kMemory = size_t{64} << 20;

std::unique_ptr<Recognizer> recognizer_of(GrammarBuilder builder, Symbol start) {
  return std::make_unique<Recognizer>(
      std::make_shared<const Grammar>(compile(std::move(builder), start)),
      std::span<const ExpressionId>(), kMemory);
}

uint32_t state_after(Recognizer& recognizer, std::string_view text) {
  uint32_t state = recognizer.start();
  for (const char byte : text) state = recognizer.next(state, static_cast<uint8_t>(byte));
  return state;
}

bool matches(Recognizer& recognizer, std::string_view text) {
  return recognizer.accepting(state_after(recognizer, text));
}

// Whether a text can be completed with a and b, within some steps.
bool can_be_completed(Recognizer& recognizer, uint32_t state) {
  std::set<uint32_t> seen = {state};
  std::vector<uint32_t> newest = {state};
  for (int steps = 0; steps < 40 && !newest.empty(); ++steps) {
    std::vector<uint32_t> next;
    for (const uint32_t each : newest) {
      if (recognizer.accepting(each)) return true;
      for (const char letter : {'a', 'b'}) {
        const uint32_t after = recognizer.next(each, static_cast<uint8_t>(letter));
        if (seen.insert(after).second && seen.size() < 2000) next.push_back(after);
      }
    }
    newest = std::move(next);
  }
  return false;
}

void expect_language(uint32_t seed, bool fold) {
  const auto [constraint, language] = random_grammar(seed, fold);
  if (constraint == nullptr) {
    EXPECT_TRUE(language.empty()) << "seed " << seed;
    return;
  }
  constraint->with_automaton([&](Constraint::Automaton& automaton, uint64_t) {
    Recognizer& recognizer = automaton.recognizer();
    const std::vector<std::string>& texts = PlainLanguage::texts();
    for (size_t i = 0; i < texts.size(); ++i) {
      const uint32_t state = state_after(recognizer, texts[i]);
      ASSERT_EQ(recognizer.accepting(state), language.contains(i))
          << "seed " << seed << ", text " << texts[i];
    }
  });
}

TEST(Recognizer, MatchesWhatRandomGrammarsDerive) {
  for (uint32_t seed = 0; seed < 1500; ++seed) expect_language(seed, seed % 2 == 1);
}

TEST(Recognizer, IsDeadWhereNothingCanComplete) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const auto [constraint, language] = random_grammar(seed, false);
    // What is completed may hold other letters, which complements allow; those are rare enough.
    if (constraint == nullptr || language.empty()) continue;
    constraint->with_automaton([&](Constraint::Automaton& automaton, uint64_t) {
      Recognizer& recognizer = automaton.recognizer();
      for (size_t i = 0; i < 15; ++i) {
        const uint32_t state = state_after(recognizer, PlainLanguage::texts()[i]);
        if (state != Recognizer::kDead) {
          EXPECT_TRUE(can_be_completed(recognizer, state))
              << "seed " << seed << ", text " << PlainLanguage::texts()[i];
        }
      }
    });
  }
}

// A list of any length goes through finitely many states, whichever way it is written.
TEST(Recognizer, RepeatsItsStatesInALongList) {
  for (const bool is_left : {true, false}) {
    GrammarBuilder builder;
    Expressions& e = builder.expressions();
    const Symbol list = builder.declare("list"), comma = builder.terminal(e.literal(","));
    const Symbol inner = builder.choice(
        {builder.terminal(e.literal("x")), builder.sequence({builder.terminal(e.literal("[")), list,
                                                             builder.terminal(e.literal("]"))})});
    builder.define(list, builder.choice({is_left ? builder.sequence({list, comma, inner})
                                                 : builder.sequence({inner, comma, list}),
                                         inner}));
    const auto recognizer = recognizer_of(std::move(builder), list);
    const uint32_t after_three = state_after(*recognizer, "x,[x,x],x");
    EXPECT_EQ(state_after(*recognizer, "x,x,x,[x,[x,x]],x,x,x"), after_three);
    std::string text = "x";
    for (int i = 0; i < 100000; ++i) text += ",x";
    const size_t memory = recognizer->memory();
    EXPECT_TRUE(matches(*recognizer, text));
    EXPECT_LT(recognizer->memory(), memory + 10000);
    EXPECT_FALSE(matches(*recognizer, text + ","));
  }
}

TEST(Recognizer, NestsDeeply) {
  GrammarBuilder builder;
  Expressions& e = builder.expressions();
  const Symbol value = builder.declare("value");
  builder.define(value, builder.choice({builder.terminal(e.literal("x")),
                                        builder.sequence({builder.terminal(e.literal("[")), value,
                                                          builder.terminal(e.literal("]"))})}));
  const auto recognizer = recognizer_of(std::move(builder), value);
  const std::string open(20000, '['), close(20000, ']');
  EXPECT_TRUE(matches(*recognizer, open + "x" + close));
  EXPECT_FALSE(matches(*recognizer, open + "x" + close + "]"));
  EXPECT_EQ(state_after(*recognizer, "x]"), Recognizer::kDead);
}

TEST(Recognizer, IgnoresBetweenTerminals) {
  GrammarBuilder builder;
  Expressions& e = builder.expressions();
  builder.ignore(e.repeat(e.literal(" "), 1, Expressions::kUnbounded));
  const Symbol words = builder.repeat(builder.terminal(e.literal("ab")), 1, 3);
  const auto recognizer = recognizer_of(std::move(builder), words);
  for (const char* text : {"ab", " ab", "ab  ab ", "  ababab"}) {
    EXPECT_TRUE(matches(*recognizer, text)) << text;
  }
  for (const char* text : {"", " ", "a b", "ab ab ab ab"}) {
    EXPECT_FALSE(matches(*recognizer, text)) << text;
  }
}

TEST(Recognizer, RefusesGrammarsThatMatchNothing) {
  GrammarBuilder builder;
  const Symbol loop = builder.declare("loop");
  builder.define(loop,
                 builder.sequence({builder.terminal(builder.expressions().literal("a")), loop}));
  EXPECT_THROW(compile(std::move(builder), loop), Error);
  GrammarBuilder undefined;
  const Symbol rule = undefined.declare("nowhere");
  try {
    compile(std::move(undefined), rule);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the rule \"nowhere\" is not defined");
  }
}

TEST(Recognizer, StopsAtItsMemory) {
  GrammarBuilder builder;
  Expressions& e = builder.expressions();
  // The 30th letter from the end is an a.
  ByteSet letters;
  letters.add('a');
  letters.add('b');
  const ExpressionId letter = e.bytes(letters);
  const std::array parts = {e.repeat(letter, 0, Expressions::kUnbounded), e.literal("a"),
                            e.repeat(letter, 29, 29)};
  const Symbol start = builder.terminal(e.concatenate(parts));
  Recognizer recognizer(std::make_shared<const Grammar>(compile(std::move(builder), start)), {},
                        size_t{1} << 20);
  EXPECT_THROW(
      {
        uint32_t state = recognizer.start();
        uint32_t random = 1;
        for (int i = 0; i < 1000000; ++i) {
          random = random * 1664525 + 1013904223;
          state = recognizer.next(state, random >> 31 == 0 ? 'a' : 'b');
        }
      },
      Error);
}

}  // namespace
}  // namespace heed::constrain
