#include "heed/constrain/regex.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <string>

#include "heed/base/error.h"
#include "tests/constrain/plain_language.h"

namespace heed::constrain {
namespace {

using Ends = std::set<size_t>;

// A pattern, and where its matches that begin at a position of a text may end: by definition.
struct PlainRegex {
  std::string pattern;
  std::function<Ends(std::string_view, size_t)> ends;
};

class RandomRegex {
 public:
  explicit RandomRegex(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  PlainRegex regex(int depth) {
    const uint32_t kind = depth == 0 ? below(3) : below(13);
    if (kind < 3) return characters();
    if (kind == 3) return anchor("^", [](std::string_view, size_t at) { return at == 0; });
    if (kind == 4) {
      return anchor("$", [](std::string_view text, size_t at) { return at == text.size(); });
    }
    if (kind == 5) return look_ahead(regex(depth - 1), below(2) == 0);
    if (kind < 8) return choice(regex(depth - 1), regex(depth - 1));
    if (kind < 11) return sequence(regex(depth - 1), regex(depth - 1));
    return repetition(regex(depth - 1));
  }

 private:
  PlainRegex characters() {
    constexpr std::array<std::string_view, 6> kPatterns = {"a", "b", "[ab]", "[^a]", ".", "\\w"};
    const size_t which = below(kPatterns.size());
    return {std::string(kPatterns[which]), [which](std::string_view text, size_t at) -> Ends {
              if (at == text.size()) return {};
              const bool fits = which == 0                 ? text[at] == 'a'
                                : which == 1 || which == 3 ? text[at] == 'b'
                                                           : true;
              return fits ? Ends{at + 1} : Ends{};
            }};
  }

  template <typename Holds>
  static PlainRegex anchor(std::string pattern, Holds holds) {
    return {std::move(pattern), [holds](std::string_view text, size_t at) {
              return holds(text, at) ? Ends{at} : Ends{};
            }};
  }

  static PlainRegex look_ahead(const PlainRegex& part, bool negative) {
    return {(negative ? "(?!" : "(?=") + part.pattern + ")",
            [part, negative](std::string_view text, size_t at) {
              return part.ends(text, at).empty() == negative ? Ends{at} : Ends{};
            }};
  }

  static PlainRegex choice(const PlainRegex& first, const PlainRegex& second) {
    return {"(" + first.pattern + "|" + second.pattern + ")",
            [first, second](std::string_view text, size_t at) {
              Ends ends = first.ends(text, at);
              ends.merge(second.ends(text, at));
              return ends;
            }};
  }

  static Ends ends_from(const PlainRegex& part, std::string_view text, const Ends& from) {
    Ends result;
    for (const size_t at : from) result.merge(part.ends(text, at));
    return result;
  }

  static PlainRegex sequence(const PlainRegex& first, const PlainRegex& second) {
    return {first.pattern + second.pattern, [first, second](std::string_view text, size_t at) {
              return ends_from(second, text, first.ends(text, at));
            }};
  }

  PlainRegex repetition(const PlainRegex& part) {
    const uint32_t min = below(3), max = min + below(3);
    const bool unbounded = below(2) == 0;
    const std::string counts =
        "{" + std::to_string(min) + (unbounded ? ",}" : "," + std::to_string(max) + "}");
    return {"(?:" + part.pattern + ")" + counts, [=](std::string_view text, size_t at) {
              Ends now = {at}, result;
              for (uint32_t i = 0; i <= (unbounded ? min + 8 : max); ++i) {
                if (i >= min) result.insert(now.begin(), now.end());
                now = ends_from(part, text, now);
              }
              return result;
            }};
  }

  std::mt19937 random_;
};

TEST(Regex, MatchesWhatItsDefinitionSays) {
  int supported = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const PlainRegex plain = RandomRegex(seed).regex(4);
    Expressions expressions;
    ExpressionId whole{}, found{};
    try {
      whole = compile_pattern(expressions, plain.pattern);
      found = compile_pattern(expressions, plain.pattern, {.search = true});
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("inside a repetition"), std::string_view::npos)
          << error.what();
      continue;
    }
    ++supported;
    for (const std::string& text : PlainLanguage::texts()) {
      ASSERT_EQ(expressions.matches(whole, text), plain.ends(text, 0).contains(text.size()))
          << "seed " << seed << ": " << plain.pattern << ", text " << text;
      bool is_found = false;
      for (size_t at = 0; at <= text.size(); ++at) is_found |= !plain.ends(text, at).empty();
      ASSERT_EQ(expressions.matches(found, text), is_found)
          << "seed " << seed << ": search " << plain.pattern << ", text " << text;
    }
  }
  EXPECT_GT(supported, 2700);
}

struct Example {
  const char* pattern;
  std::vector<const char*> matches, others;
  RegexDialect dialect = RegexDialect::ecma;
};

TEST(Regex, HasTheSyntaxOfItsDialect) {
  const Example examples[] = {
      {R"(\d{4}-\d\d)",
       {"2024-05"},
       {"2024-5",
        "\xD9\xA1"
        "024-05"}},
      {R"(\d+)", {"1", "\xD9\xA1"}, {"a"}, RegexDialect::python},
      {R"([\w.-]+@x)", {"a.b-c@x"}, {"@x", "a b@x"}},
      {R"(\w)", {"\xC3\xA9", "_"}, {"-"}, RegexDialect::python},
      {R"(\w)", {"e", "_"}, {"\xC3\xA9"}},
      {R"(a.c)",
       {"abc",
        "a\xE2\x82\xAC"
        "c",
        "a\xF0\x9F\x98\x80"
        "c"},
       {"a\nc", "a\rc", "ac"}},
      {R"(a.c)", {"abc", "a\rc"}, {"a\nc"}, RegexDialect::python},
      {R"([^"\\]*)", {"", "abc\xC3\xA9"}, {"a\"", "\\"}},
      {R"([]a]+)", {"]a]"}, {"b"}, RegexDialect::python},
      {R"([])", {}, {"", "a"}},
      {R"([^])", {"a", "\n"}, {""}},
      {R"(\x41\u0042\u{1F600}\uD83D\uDE00\n\cA)",
       {"AB\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n\x01"},
       {"AB"}},
      {R"(\p{Lu}\P{L}[\p{Nd}x])", {"A15", "\xC3\x89-x"}, {"aa1", "AA1"}},
      {R"(\s+)", {" \t\n", "\xC2\xA0", "\xEF\xBB\xBF"}, {"a", "\x1C"}},
      {R"(\s+)", {"\x1C"}, {"\xEF\xBB\xBF"}, RegexDialect::python},
      {R"((?<year>\d+)|(?:x)*?)", {"12", "", "xx"}, {"1x"}},
      {R"((?P<year>\d+)(?#a comment)!)", {"12!"}, {"12"}, RegexDialect::python},
      {R"(a{,2}b)", {"b", "aab"}, {"aaab"}, RegexDialect::python},
      {R"(a{,2})", {"a{,2}"}, {"a"}},
      {R"(a{x}]})", {"a{x}]}"}, {"a"}},
      {R"(\Aab\Z)", {"ab"}, {"ab\n"}, RegexDialect::python},
      {R"(ab$)", {"ab"}, {"ab\n"}},
      {R"([+\-*/.$^]\/)", {"+/", "-/", "^/"}, {"a/", "\\/"}},
      {R"([a-c-e])", {"b", "-", "e"}, {"d"}},
      {R"([\d-x])", {"1", "-", "x"}, {"w"}},
  };
  for (const Example& example : examples) {
    Expressions expressions;
    const ExpressionId expression =
        compile_pattern(expressions, example.pattern, {.dialect = example.dialect});
    for (const char* text : example.matches) {
      EXPECT_TRUE(expressions.matches(expression, text)) << example.pattern << ": " << text;
    }
    for (const char* text : example.others) {
      EXPECT_FALSE(expressions.matches(expression, text)) << example.pattern << ": " << text;
    }
  }
}

// From published schemas: a look-ahead at each character, a $ in a repetition.
TEST(Regex, SupportsChecksAtEachCharacter) {
  Expressions e;
  const ExpressionId without = compile_pattern(e, "^((?!mode)(?!Mode).)*$", {.search = true});
  EXPECT_TRUE(e.matches(without, "a mod"));
  EXPECT_TRUE(e.matches(without, ""));
  EXPECT_FALSE(e.matches(without, "a mode"));
  EXPECT_FALSE(e.matches(without, "Mode"));
  const ExpressionId list = compile_pattern(e, "^([^,]+(,|$)){3,}$", {.search = true});
  EXPECT_TRUE(e.matches(list, "a,b,c"));
  EXPECT_TRUE(e.matches(list, "a,b,c,"));
  EXPECT_FALSE(e.matches(list, "a,b"));
  EXPECT_FALSE(e.matches(list, "a,b,,c"));
}

TEST(Regex, SpellsCharactersAsAsked) {
  Expressions e;
  RegexOptions options;
  // Each character between angle brackets.
  options.spell = [](Expressions& expressions, const CodePointSet& set) {
    const std::array parts = {expressions.literal("<"), utf8(expressions, set),
                              expressions.literal(">")};
    return expressions.concatenate(parts);
  };
  options.search = true;
  const ExpressionId expression = compile_pattern(e, "b(?!c)", options);
  EXPECT_TRUE(e.matches(expression, "<a><b><d>"));
  EXPECT_FALSE(e.matches(expression, "<a><b><c>"));
  EXPECT_FALSE(e.matches(expression, "b"));
}

TEST(Regex, NamesWhatItDoesNotSupport) {
  const std::pair<const char*, const char*> examples[] = {
      {R"((a)\1)", "byte 3: back-references are not supported"},
      {R"((?<x>a)\k<x>)", "byte 7: back-references"},
      {R"(a\bc)", "byte 1: word boundaries"},
      {R"(a(?<=b))", "byte 1: look-behind"},
      {R"((?i)a)", "byte 0: a kind of group"},
      {R"(a(b)", "byte 1: ( without )"},
      {R"(a)b)", "byte 1: ) without ("},
      {R"([a)", "byte 1: [ without ]"},
      {R"(*a)", "byte 0: nothing to repeat"},
      {R"(a**)", "byte 2: nothing to repeat"},
      {R"(a{3,2})", "byte 1: a repetition of at least more than at most"},
      {R"(a{99999999999})", "byte 2: the number is too large"},
      {R"([b-a])", "byte 2: a range that ends before it begins"},
      {R"(\p{Greek})", "only general categories are supported, not \"Greek\""},
      {R"(\p{Xx})", "is no general category"},
      {R"(\q)", "an escape that is not supported"},
      {"\\", "it ends too early"},
      {"\\x4", "expected a hexadecimal digit"},
      {"((?!a)b)*c", "inside a repetition, is not supported"},
      {"\xFF", "not valid UTF-8"},
  };
  for (const auto& [pattern, message] : examples) {
    Expressions expressions;
    try {
      compile_pattern(expressions, pattern);
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(message), std::string_view::npos)
          << error.what();
    }
  }
}

TEST(Regex, NestsWithABound) {
  std::string deep(100000, '(');
  deep += std::string(100000, ')');
  Expressions expressions;
  EXPECT_THROW(compile_pattern(expressions, deep), Error);
  EXPECT_THROW(compile_pattern(expressions, std::string(60000, '(')), Error);
  // Nested repetitions of repetitions are simple.
  const ExpressionId many = compile_pattern(expressions, "(a|a)*{1000}{1000}");
  EXPECT_EQ(many, compile_pattern(expressions, "a*"));
}

}  // namespace
}  // namespace heed::constrain
