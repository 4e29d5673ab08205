// Grammars as text: GBNF and Lark.
#include <gtest/gtest.h>

#include <array>

#include "heed/base/error.h"
#include "heed/constrain/matcher.h"

namespace heed::constrain {
namespace {

using Compile = std::shared_ptr<const Constraint> (*)(std::string_view);

struct GrammarExample {
  const char* grammar;
  std::vector<const char*> matches, others;
};

bool matches_text(const std::shared_ptr<const Constraint>& constraint, std::string_view text) {
  Matcher matcher(constraint, Vocabulary::of({}, {}));
  return matcher.accept_bytes(text) == text.size() && matcher.is_accepting();
}

void expect_examples(Compile compile_text, std::span<const GrammarExample> examples) {
  for (const GrammarExample& example : examples) {
    const auto constraint = compile_text(example.grammar);
    for (const char* text : example.matches) {
      EXPECT_TRUE(matches_text(constraint, text)) << example.grammar << ": " << text;
    }
    for (const char* text : example.others) {
      EXPECT_FALSE(matches_text(constraint, text)) << example.grammar << ": " << text;
    }
  }
}

void expect_refused(Compile compile_text,
                    std::span<const std::pair<const char*, const char*>> examples) {
  for (const auto& [grammar, message] : examples) {
    try {
      compile_text(grammar);
      ADD_FAILURE() << grammar;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(message), std::string_view::npos)
          << error.what();
    }
  }
}

TEST(Gbnf, MatchesWhatLlamaCppDocuments) {
  const GrammarExample examples[] = {
      {"root ::= \"a\"{2,} \"b\"?  # a comment\n", {"aa", "aaab"}, {"a", "aabb", ""}},
      {"root ::= [a-c]{1,3} | \"x\" [^x\\n]",
       {"a", "abc", "xy", "x\xC3\xA9"},
       {"abca", "xx", "x\n"}},
      {"# lists\nroot ::= (\"- \" item)+\nitem ::= [^\\n]+ \"\\n\"\n",
       {"- a\n- b c\n"},
       {"- a", "\n"}},
      {"root ::= (expr \"=\" ws term \"\\n\")+\n"
       "expr ::= term ([-+*/] term)*\n"
       "term ::= ident | num | \"(\" ws expr \")\" ws\n"
       "ident ::= [a-z] [a-z0-9_]* ws\n"
       "num ::= [0-9]+ ws\n"
       "ws ::= [ \\t\\n]*\n",
       {"42*a=3\n", "( 1 +2 ) = 3\n", "a=b\nc=d\n"},
       {"42*a=3", "()=1\n", "1=\n"}},
      {"root ::= ( # in brackets lines end freely\n  \"a\" |\n  \"b\"\n) \"c\" |\n \"d\"",
       {"ac", "bc", "d"},
       {"a"}},
      {"root ::= \"\\x41\\u00e9\\U0001F600\\\"\\\\\" [\\]\\-]",
       {"A\xC3\xA9\xF0\x9F\x98\x80\"\\-"},
       {"A"}},
      {"root ::= . \"!\"", {"\xE2\x82\xAC!", "\n!"}, {"!", "\xE2!"}},
      {"root ::= list\nlist ::= list \",\" \"x\" | \"x\"", {"x", "x,x,x"}, {"", "x,"}},
      {"root ::= \"a\" root \"b\" |", {"", "ab", "aabb"}, {"aab", "ba"}},
      {"root ::= one-rule\r\none-rule ::= \"1\"\r\n", {"1"}, {"2"}},
      {"root ::= (\"a\"?)* \"b\"{0,2}", {"", "aaa", "abb"}, {"abbb"}},
      // The end of a terminal is not decided by the longest match.
      {"root ::= word \"ing\"\nword ::= [a-z]+", {"going", "inging"}, {"ing", "goings"}},
  };
  expect_examples(compile_gbnf, examples);
}

TEST(Gbnf, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> examples[] = {
      {"start ::= \"a\"", "there is no rule named root"},
      {"root ::= a\n\nb ::= a \"x\"", "line 1, column 10: the rule \"a\" is not defined"},
      {"root ::= \"a\nb", "line 1, column 10: a quote that is not closed"},
      {"root ::= [a", "column 10: [ without ]"},
      {"root ::= (\"a\"", "column 10: ( without )"},
      {"root ::= \"a\" )", "column 14: expected the end of the line"},
      {"root = \"a\"", "column 6: expected ::="},
      {"root ::= \"\\q\"", "an escape that is not supported"},
      {"root ::= \"\\xZZ\"", "expected a hexadecimal digit"},
      {"root ::= \"a\"{3,1}", "a repetition of at least more than at most"},
      {"root ::= \"a\"{x}", "expected a number"},
      {"root ::= (root){1,1000000} | \"a\"", "copies of what is repeated"},
      {"root ::= <think> \"a\"", "tokens in grammars are not supported"},
      {"root ::= root \"a\"", "no text satisfies the constraint"},
      {"root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: the rule \"root\" is defined twice"},
      {"root ::= [b-a]", "a range that ends before it begins"},
      {"root ::= \"\xFF\"", "not valid UTF-8"},
  };
  expect_refused(compile_gbnf, examples);
  EXPECT_THROW(compile_gbnf("root ::= " + std::string(100000, '(')), Error);
}

TEST(Lark, MatchesWhatItsDocumentationSays) {
  const GrammarExample examples[] = {
      {"start: \"hello\" NAME  // a comment\nNAME: /[a-z]+/\n%ignore \" \"\n",
       {"hello bob", "hellobob", " hello  bob "},
       {"hello", "helo bob"}},
      {"?start: sum\n"
       "?sum: product | sum \"+\" product -> add | sum \"-\" product -> sub\n"
       "?product: atom\n"
       "  | product \"*\" atom -> mul\n"
       "?atom: NUMBER -> number | \"-\" atom | \"(\" sum \")\"\n"
       "%import common.NUMBER\n%import common.WS_INLINE\n%ignore WS_INLINE\n",
       {"1+2*3", "-(1.5e3 - 2) * 4"},
       {"1+", "()", "1\n"}},
      {"start: value\n"
       "value: dict | list | STRING | SIGNED_NUMBER | \"true\"i\n"
       "list: \"[\" [value (\",\" value)*] \"]\"\n"
       "dict: \"{\" [pair (\",\" pair)*] \"}\"\n"
       "pair: STRING \":\" value\n"
       "%import common (WS, SIGNED_NUMBER)\n%import common.ESCAPED_STRING -> STRING\n%ignore WS",
       {"{\"a\": [1, -2.5, TRUE], \"b\\\"\": {}}", "[]"},
       {"{\"a\"}", "[1,]", "\"a\"b\""}},
      {"start: \"a\"~2 \"b\" ~ 1..2 (\"c\" | D)? E{2}\nD.2: \"d\"..\"f\"\nE: F G+\nF: \"(\" | "
       "\"[\"\nG: \"!\"",
       {"aab(![!!", "aabbe[![!"},
       {"ab(!(!", "aabbb(!(!", "aab(!"}},
      {"start: /a.c/s /x+/i\n", {"a\ncXx"}, {"acx"}},
      {"start: _a*\n_a: \"\\x41\" | \"\\\"\" | \"\\u00e9\"i", {"", "A\"\xC3\xA9\xC3\x89"}, {"a"}},
      {"start: | \"a\" start", {"", "aaa"}, {"b"}},
      {"!start: (\"a\"\n  | \"b\")+\n", {"a", "bab"}, {""}},
      {"start: C_COMMENT CNAME\n%import common.C_COMMENT\n%import common.CNAME",
       {"/* a * b **/_x1"},
       {"/* a */ */x", "/* a */1"}},
  };
  expect_examples(compile_lark, examples);
}

TEST(Lark, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> examples[] = {
      {"begin: \"a\"", "there is no rule named start"},
      {"start: a\n", "line 1, column 8: \"a\" is not defined"},
      {"start: A\nA: \"x\" b\nb: \"y\"",
       "line 2, column 8: a terminal cannot refer to the rule \"b\""},
      {"start: A\nA: \"x\" A", "\"A\" is recursive"},
      {"start: \"a\nx\"", "a quote that is not closed"},
      {"start: /a", "a regular expression that is not closed"},
      {"start: /a/x", "the flag x is not supported"},
      {"start: (\"a\"", "a bracket that is not closed"},
      {"start: \"a\" ]", "expected the end of the line"},
      {"start: list{\"a\"}\nlist{x}: x", "templates are not supported"},
      {"start: \"a\"\n%declare B", "line 2, column 1: %declare is not supported"},
      {"start: %json {}", "directives inside a rule are not supported"},
      {"start: <think>", "special tokens are not supported"},
      {"start: X\n%import common.X", "common has no terminal \"X\""},
      {"start: X\n%import python.X", "only common can be imported from"},
      {"start: \"ab\"..\"c\"", "expected a range of two characters"},
      {"start: \"a\"~3..2", "expected a number of at least the first"},
      {"start: /(a)\\1/", "back-references are not supported"},
      {"start: start \"a\"", "no text satisfies the constraint"},
      {"start: \"a\"\nstart: \"b\"", "\"start\" is defined twice"},
  };
  expect_refused(compile_lark, examples);
  EXPECT_THROW(compile_lark("start: " + std::string(100000, '(')), Error);
}

}  // namespace
}  // namespace heed::constrain
