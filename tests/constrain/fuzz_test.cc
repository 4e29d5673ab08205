// Damages regular expressions, grammars and JSON Schemas, compiles them and computes masks.
#include <gtest/gtest.h>

#include <array>

#include "heed/constrain/matcher.h"
#include "heed/constrain/schema/json_schema.h"
#include "tests/base/fuzz.h"

namespace heed::constrain {
namespace {

constexpr uint64_t kAttempts = 3000;

using Compile = std::shared_ptr<const Constraint> (*)(std::string_view);

void fuzz_programs(const std::string& name, Compile compile_text,
                   const std::vector<std::string>& programs) {
  std::vector<std::string> tokens = {"ab", "x=", "[[", "10"};
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  const auto vocabulary = Vocabulary::of(std::move(tokens), {});
  fuzz(name, kAttempts, [&](uint64_t number, Dice& dice) {
    std::string program = programs[dice.below(programs.size())];
    for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(program, dice);
    Matcher matcher(compile_text(program), vocabulary);
    std::vector<uint64_t> mask(vocabulary->mask_words());
    for (int step = 0; step < 8; ++step) {
      matcher.mask(mask);
      const auto token = static_cast<int32_t>(dice.below(static_cast<size_t>(vocabulary->size())));
      const bool in_mask = ((mask[static_cast<size_t>(token) / 64] >> (token % 64)) & 1) != 0;
      EXPECT_EQ(matcher.accept(token), in_mask) << program;
    }
    matcher.forced_bytes(100);
    matcher.why_forbidden(
        static_cast<int32_t>(dice.below(static_cast<size_t>(vocabulary->size()))));
    constexpr int kRoom = 40;
    if (!matcher.can_end_within(kRoom)) return;
    int closing = 0;
    for (; !matcher.is_accepting(); ++closing)
      ASSERT_TRUE(closing < kRoom && matcher.accept(matcher.closing_token())) << program;
  });
}

TEST(Fuzz, RegularExpressions) {
  fuzz_programs(
      "regex", [](std::string_view text) { return compile_regex(text); },
      {R"(^(a|b)*?[^"\\\d]{2,5}(?=x)(?!y)\u{1F600}$)", R"((?<n>\p{Lu}+|\w+@[a-z.-]+){1,3}\s*)",
       R"(((a{2,}|b?)+c){10,20}|\x41\cA[\w-.]|.*)"});
  fuzz_programs("regex of Python",
                [](std::string_view text) { return compile_regex(text, RegexDialect::python); },
                {R"((?is)\A(?P<n>\w+)=(?#c)[]a-z\s]{,3}\Z)", R"((?:(?!ab).)*$|\U0001F600[^\n])"});
}

TEST(Fuzz, Grammars) {
  fuzz_programs(
      "GBNF", compile_gbnf,
      {"root ::= (expr \"=\" ws [0-9]+ \"\\n\")+ # text\nexpr ::= \"x\" | \"(\" ws expr{1,3} "
       "\")\"\nws ::= [ \\t\\n]* | .?\n",
       "root ::= \"[\" (root (\",\" root)*)? \"]\" | [^\\]\\-\\x41]"});
  fuzz_programs("Lark", compile_lark,
                {"start: value\n?value: \"[\" [value (\",\" value)*] \"]\" -> list | NUMBER~1..2 | "
                 "/x=?/i\n%import common.NUMBER\n%import common (WS, INT)\n%ignore WS\n",
                 "start: A | B{1,3}\nA.2: \"a\"i B?\nB: \"0\"..\"9\"+  // text\n"});
}

TEST(Fuzz, JsonSchemas) {
  fuzz_programs(
      "JSON Schema", [](std::string_view text) { return compile_json_schema(text); },
      {R"({"type": ["object", "array"], "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"enum":
       [1.5, "x", [null]]}}, "required": ["a"], "patternProperties": {"^c+": false},
       "additionalProperties": {"not": {"type": "string"}}, "minProperties": 1, "prefixItems":
       [true], "items": {"$ref": "#"}, "uniqueItems": false, "contains": {"const": 1}, "$defs":
       {"x": {"oneOf": [{"minLength": 2, "format": "date"}, {"multipleOf": 0.25}]}}})",
       R"({"$schema": "http://json-schema.org/draft-07/schema#", "if": {"maximum": 3}, "then":
       {"minimum": -7.5e1}, "else": {"anyOf": [{"pattern": "^[a-z]{2,}$"}, {"maxItems": 2,
       "items": {"enum": [1, 2]}, "uniqueItems": true}, {"dependencies": {"a": ["b"]},
       "propertyNames": {"maxLength": 3}}]}, "allOf": [{"maxLength": 9}, {}]})",
       R"({"allOf": [{"properties": {"a": true}}, {"anyOf": [{"required": ["b"]}, {"$ref":
       "#/$defs/n"}]}], "unevaluatedProperties": {"type": "integer"}, "$defs": {"n":
       {"dependentRequired": {"a": ["c"]}, "unevaluatedItems": false}}})"});
}

}  // namespace
}  // namespace heed::constrain
