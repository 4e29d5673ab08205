#include "heed/constrain/schema/json_schema.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>

#include "heed/constrain/matcher.h"
#include "heed/error.h"

namespace heed::constrain {
namespace {

bool accepts(const std::shared_ptr<const Constraint>& constraint, std::string_view text) {
  static const auto vocabulary = [] {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    tokens.emplace_back();
    return Vocabulary::of(std::move(tokens), {256});
  }();
  Matcher matcher(constraint, vocabulary);
  return matcher.accept_bytes(text) == text.size() && matcher.is_accepting();
}

/// Checks which texts a schema allows.
void expect_texts(std::string_view schema, const std::vector<const char*>& allowed,
                  const std::vector<const char*>& others, const SchemaOptions& options = {}) {
  SCOPED_TRACE(schema);
  const auto constraint = compile_json_schema(schema, options);
  for (const char* text : allowed) EXPECT_TRUE(accepts(constraint, text)) << text;
  for (const char* text : others) EXPECT_FALSE(accepts(constraint, text)) << text;
}

/// Checks that a schema is refused with a message that has all of `parts`.
void expect_refused(std::string_view schema, const std::vector<const char*>& parts) {
  try {
    compile_json_schema(schema);
    ADD_FAILURE() << schema;
  } catch (const Error& error) {
    for (const char* part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
}

TEST(JsonSchema, TypesAreToldApart) {
  static constexpr std::array<std::pair<const char*, const char*>, 6> kExamples = {
      {{"null", "null"},
       {"boolean", "true"},
       {"number", "-1.5e3"},
       {"string", R"("a\u00e9\n")"},
       {"array", R"([1, "x", [null]])"},
       {"object", R"({"b": {}, "a": [false]})"}}};
  for (const auto& [type, own] : kExamples) {
    std::vector<const char*> others;
    for (const auto& [other, text] : kExamples) {
      if (text != own) others.push_back(text);
    }
    expect_texts(fmt::format(R"({{"type": "{}"}})", type), {own}, others);
  }
  expect_texts("true", {"null", R"({"a": [1, {}]})"}, {"nul", "{,}", "[1,]", ""});
}

TEST(JsonSchema, StringsAreCountedInCodePoints) {
  expect_texts(R"({"type": "string", "minLength": 2, "maxLength": 3})",
               {R"("ab")", R"("é𝄞é")", R"("\n\"")"}, {R"("a")", R"("abcd")", R"("é𝄞éa")"});
  expect_texts(R"({"type": "string", "pattern": "^a+$", "maxLength": 2})", {R"("a")", R"("aa")"},
               {R"("")", R"("aaa")", R"("ab")"});
  expect_texts(R"({"type": "string", "not": {"pattern": "b"}})", {R"("aca")"}, {R"("abc")", "1"});
}

TEST(JsonSchema, NumbersAreExact) {
  expect_texts(R"({"type": "integer", "exclusiveMinimum": 3, "maximum": 12, "multipleOf": 3})",
               {"6", "9", "12"}, {"3", "5", "15", "6.0", "-6"});
  expect_texts(R"({"type": "number", "multipleOf": 0.01, "minimum": 0})", {"0.07", "19.99", "5"},
               {"0.001", "-1"});
  expect_texts(R"({"enum": [1.5, 2]})", {"1.5", "2"}, {"1", "2.5"});
}

TEST(JsonSchema, MembersComeInTheOrderOfTheSchema) {
  expect_texts(R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": true},
                   "required": ["b"]})",
               {R"({"a": 1, "b": 2})", R"({"b":null})", R"({"b": 1, "x": 2, "c": 3})"},
               {R"({"b": 2, "a": 1})", R"({"a": 1})", R"({"a": "x", "b": 1})", "{}"});
  expect_texts(R"({"properties": {"a": true}, "patternProperties": {"^n": {"type": "number"}},
                   "additionalProperties": {"type": "null"}, "type": "object"})",
               {R"({"a": 1, "n1": 2, "x": null})"}, {R"({"n1": null})", R"({"x": 1})"});
  expect_texts(R"({"type": "object", "propertyNames": {"maxLength": 1}, "minProperties": 1,
                   "maxProperties": 2})",
               {R"({"a": 1})", R"({"a": 1, "b": 2})"},
               {"{}", R"({"ab": 1})", R"({"a": 1, "b": 2, "c": 3})"});
}

TEST(JsonSchema, ItemsFollowPositionsAndCounts) {
  expect_texts(R"({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "null"},
                   "minItems": 1, "maxItems": 3})",
               {R"(["a"])", R"(["a", null, null])"},
               {"[]", "[null]", R"(["a", 1])", R"(["a", null, null, null])"});
  expect_texts(R"({"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 3})",
               {"[1, 1]", "[0, 1, 2, 1, 1]"}, {"[]", "[1]", "[1, 1, 1, 1]"});
  expect_texts(R"({"type": "array", "items": {"enum": [1, 2, 2.5]}, "uniqueItems": true})",
               {"[]", "[2]", "[2, 1, 2.5]", "[2.5,1]"}, {"[1, 1]", "[1, 1.0]", "[2.50]", "[3]"});
  expect_texts(R"({"items": {"type": "integer", "minimum": -2, "maximum": 20}, "uniqueItems": true,
                   "type": "array", "minItems": 2})",
               {"[-2, 20]", "[0,1,2,3,4]"}, {"[0, -0]", "[7]", "[3, 4, 3]"});
  expect_texts(R"({"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true,
                   "minItems": 2})",
               {R"(["a", "b"])", R"(["c","a","b"])"}, {R"(["a"])", R"(["a", "b", "a"])"});
}

TEST(JsonSchema, CombinationsAreIntersectedExactly) {
  expect_texts(R"({"oneOf": [{"type": "integer", "multipleOf": 2},
                             {"type": "integer", "multipleOf": 3}]})",
               {"2", "3", "4"}, {"6", "5", "12"});
  expect_texts(R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"})",
               {R"({"a": 1})", R"({"b": 1})", R"({"a": 1, "c": 1})"},
               {"{}", R"({"a": 1, "b": 1})"});
  expect_texts(R"({"type": "object", "properties": {"k": {"enum": ["x", "y"]}, "v": true},
                   "required": ["k"], "if": {"properties": {"k": {"const": "x"}}},
                   "then": {"required": ["v"]}, "else": {"properties": {"v": false}}})",
               {R"({"k": "x", "v": 1})", R"({"k": "y"})"},
               {R"({"k": "x"})", R"({"k": "y", "v": 1})"});
  expect_texts(R"({"type": "object", "properties": {"a": true, "b": true},
                   "dependentRequired": {"a": ["b"]}, "additionalProperties": false})",
               {"{}", R"({"b": 1})", R"({"a": 1, "b": 1})"}, {R"({"a": 1})"});
}

TEST(JsonSchema, UnevaluatedMembersAreThoseOfNoSatisfiedSchema) {
  expect_texts(R"({"type": "object", "properties": {"a": true}, "unevaluatedProperties": false,
                   "anyOf": [{"properties": {"b": {"const": 1}}, "required": ["b"]},
                             {"properties": {"c": true}, "required": ["c"]}]})",
               {R"({"a": 1, "b": 1})", R"({"c": 1})", R"({"b": 1, "c": 2})"},
               {R"({"a": 1})", R"({"b": 2, "c": 1})", R"({"b": 1, "d": 1})"});
}

TEST(JsonSchema, ReferencesMayRecurse) {
  expect_texts(R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object",
                   "properties": {"l": {"$ref": "#/$defs/tree"}, "r": {"$ref": "#/$defs/tree"}},
                   "additionalProperties": false}}})",
               {"{}", R"({"l": {"r": {}}, "r": {}})"}, {R"({"l": 1})", R"({"x": {}})"});
  SchemaOptions options;
  options.documents["http://x/y"] = R"({"$defs": {"z": {"$anchor": "z", "type": "null"}}})";
  expect_texts(R"({"$ref": "http://x/y#z"})", {"null"}, {"1"}, options);
}

TEST(JsonSchema, DraftsDiffer) {
  expect_texts(R"({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer",
                   "minimum": 3, "exclusiveMinimum": true})",
               {"4"}, {"3"});
  expect_texts(R"({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array",
                   "items": [{"type": "null"}], "additionalItems": false})",
               {"[]", "[null]"}, {"[1]", "[null, null]"});
}

TEST(JsonSchema, WhiteSpaceIsTheCallersChoice) {
  const char* schema = R"({"type": "array", "items": {"type": "object"}})";
  SchemaOptions options;
  options.white_space = JsonWhiteSpace::compact;
  expect_texts(schema, {R"([{"a":1},{}])"}, {R"([{"a": 1}])", "[{}, {}]"}, options);
  options.white_space = JsonWhiteSpace::spaced;
  expect_texts(schema, {R"([{"a": 1}, {}])"}, {R"([{"a":1}])", "[ {}]"}, options);
  options.white_space = JsonWhiteSpace::free;
  expect_texts(schema, {"[\n  { \"a\" : 1 } ,\t{}\n]"}, {" []"}, options);
}

TEST(JsonSchema, WhatAssertsNothingIsListed) {
  std::vector<std::string> warnings;
  compile_json_schema(R"({"type": "string", "title": "t", "x-order": 1, "format": "color"})", {},
                      &warnings);
  EXPECT_EQ(warnings, (std::vector<std::string>{"format \"color\"", "x-order"}));
}

TEST(JsonSchema, RefusalsNameKeywordAndPointer) {
  expect_refused(R"({"properties": {"a": {"pattern": "(a)\\1"}}})", {"pattern", "/properties/a"});
  expect_refused(R"({"items": {"uniqueItems": true}})", {"uniqueItems", "/items"});
  expect_refused(
      R"({"properties": {"a": {"minLength": 999999999, "pattern": "a{1,500}b{1,500}$"}}})",
      {"/properties/a", "too complex"});
  expect_refused(R"({"$ref": "http://x/y"})", {"$ref", "http://x/y"});
  expect_refused(R"({"$ref": "#/a"})", {"$ref", "#/a"});
  expect_refused(R"({"allOf": [{"$ref": "#"}]})", {"$ref", "itself"});
  expect_refused(R"({"type": "text"})", {"type", "text"});
  expect_refused("{", {"not JSON"});
}

TEST(JsonSchema, ContradictionsNameTheKeyword) {
  expect_refused(R"({"type": "string", "minLength": 3, "maxLength": 2})", {"minLength"});
  expect_refused(R"({"enum": []})", {"enum"});
  expect_refused(R"({"type": "array", "minItems": 2, "maxItems": 1})", {"no value", "Items"});
  expect_refused(R"({"type": "object", "properties": {"a": false}, "required": ["a"]})",
                 {"no value"});
  expect_refused("false", {"no value"});
}

}  // namespace
}  // namespace heed::constrain
