#include <gtest/gtest.h>

#include <fmt/format.h>

#include "heed/error.h"
#include "heed/json_schema.h"

namespace heed {
namespace {

/// Checks which texts a schema allows.
void expect_valid(const std::string& schema, const std::vector<const char*>& valid,
                  const std::vector<const char*>& invalid) {
  SCOPED_TRACE(schema);
  const JsonSchema checked(schema);
  for (const char* text : valid) EXPECT_EQ(checked.violation(text), std::nullopt) << text;
  for (const char* text : invalid) EXPECT_NE(checked.violation(text), std::nullopt) << text;
}

std::string violation(const std::string& schema, const char* text) {
  return JsonSchema(schema).violation(text).value_or("");
}

constexpr const char* kPerson = R"({"type": "object", "required": ["name", "age"],
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"},
                   "age": {"type": "integer", "minimum": 0}},
    "additionalProperties": {"type": "array", "items": {"type": "boolean"}}})";

TEST(JsonSchema, MembersComeInAnyOrder) {
  expect_valid(
      kPerson,
      {R"({"name": "Al", "age": 3})", R"({"age":3,"name":"Al"})",
       R"({"x": [], "age": 3, "y": [true], "name": "Al"})"},
      {R"({"age": 3})", R"({"age": 3, "name": "al"})", R"({"x": 1, "age": 3, "name": "Al"})"});
}

TEST(JsonSchema, ValuesAreJudgedHoweverTheyAreWritten) {
  expect_valid(kPerson,
               {"\n{\"age\" :\t3.0, \"n\\u0061me\" : \"\\u0041l\"}\r\n",
                R"({"age": 3e0, "name": "A\/"})", R"({"age": -0, "name": "A"})"},
               {R"({"age": 3.5, "name": "Al"})", R"({"age": -3, "name": "Al"})",
                R"({"age": 3, "name": "\u0061l"})"});
  expect_valid(R"({"multipleOf": 0.01})", {"1E-2", "100", "1.230"}, {"0.001", "1e-3"});
  expect_valid(R"({"exclusiveMaximum": 0})", {"-1e300", "-0.1"}, {"-0", "0.0", "-0e5", "1"});
  expect_valid(R"({"enum": [1.0, "a", {"a": 1, "b": [2]}]})",
               {"1", "10e-1", R"("\u0061")", R"({"b": [2.0], "a": 1})"},
               {"1.1", R"({"b": [2]})", R"({"a": 1, "b": [2], "c": 3})"});
}

TEST(JsonSchema, UnionsAndNegationsAreJudged) {
  expect_valid(R"({"anyOf": [{"required": ["a"]}, {"required": ["b"], "maxProperties": 1}]})",
               {R"({"c": 1, "a": 2})", R"({"b": 1})", "3"}, {R"({"c": 1, "b": 2})", "{}"});
  expect_valid(R"({"oneOf": [{"type": "integer"}, {"minimum": 5}]})", {"4", "5.5", "\"a\""},
               {"5", "4.5"});
  expect_valid(R"({"not": {"properties": {"a": {"type": "string"}}}})", {R"({"a": 1})"},
               {R"({"a": "b"})", R"({"b": 1})", "1"});
  expect_valid(R"({"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["a"]},
                   "type": "object"})",
               {R"({"a": 0, "k": 1})", R"({"k": 2})"}, {R"({"k": 1})", "{}"});
}

TEST(JsonSchema, ArraysAreJudged) {
  expect_valid(R"({"prefixItems": [{"type": "string"}], "items": {"type": "number"},
                   "minItems": 1, "maxItems": 3})",
               {R"(["a"])", R"(["a", 1, 2])", "{}"}, {"[]", R"(["a", "b"])", R"(["a", 1, 2, 3])"});
  expect_valid(R"({"contains": {"const": 1}, "minContains": 2, "maxContains": 3})",
               {"[1, 1.0]", "[1, 2, 1, 1]"}, {"[1, 2]", "[1, 1, 1, 1]"});
  expect_valid(R"({"type": "array", "items": {"enum": ["a", "b", null]}, "uniqueItems": true})",
               {R"([null, "a"])", "[]"}, {R"(["a", null, "\u0061"])", R"(["c"])"});
}

TEST(JsonSchema, RecursiveValuesAreJudgedInTimeThatGrowsWithTheirSize) {
  const std::string schema = R"({"$ref": "#/$defs/n", "$defs": {"n": {"type": "array",
      "anyOf": [{"contains": {"$ref": "#/$defs/n"}}, {"maxItems": 0}]}}})";
  std::string text = "[]";
  for (int i = 0; i < 100; ++i) text = fmt::format("[{0}, 1]", text);
  EXPECT_EQ(JsonSchema(schema).violation(text), std::nullopt);
  EXPECT_NE(JsonSchema(schema).violation("[[[1]]]"), std::nullopt);
}

TEST(JsonSchema, AViolationNamesTheInnermostValue) {
  EXPECT_EQ(violation(kPerson, R"({"name": "Al", "age": -1})"),
            R"("/age": this number is not allowed)");
  EXPECT_EQ(violation(kPerson, R"({"name": "Al"})"), R"("": the member "age" is missing)");
  EXPECT_EQ(violation(kPerson, R"({"name": "Al", "age": 1, "x/y": [true, null]})"),
            R"("/x~1y/1": null is not allowed)");
  EXPECT_EQ(violation(R"({"additionalProperties": false})", R"({"a": 1})"),
            R"("": the member "a" is not allowed)");
  EXPECT_EQ(violation(R"({"maxItems": 1})", "[1, 2]"), R"("": 2 items are not allowed)");
  EXPECT_NE(violation(kPerson, "{").find("the text is not JSON"), std::string::npos);
  EXPECT_NE(violation(kPerson, R"({"a": 1, "a": 2})").find("twice"), std::string::npos);
}

TEST(JsonSchema, WhatCannotBeEnforcedIsRefusedByKeywordAndPointer) {
  try {
    JsonSchema(R"({"properties": {"a": {"type": "array", "uniqueItems": true}}})");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string_view(error.what()).find("uniqueItems at \"/properties/a"),
              std::string_view::npos)
        << error.what();
  }
  EXPECT_THROW(JsonSchema(R"({"type": "strin"})"), InputError);
  EXPECT_THROW(JsonSchema("{"), InputError);
}

TEST(JsonSchema, ListsKeywordsThatAssertNothing) {
  const JsonSchema schema(
      R"({"title": "a", "colour": 1, "items": {"colour": 2, "format": "colour"}})");
  EXPECT_EQ(schema.ignored(), (std::vector<std::string>{"colour", "format \"colour\""}));
  EXPECT_EQ(JsonSchema(kPerson).ignored(), std::vector<std::string>());
}

TEST(JsonSchema, GoesOnAfterATextThatItCannotJudge) {
  const JsonSchema schema(R"({"type": "number", "minimum": 1})");
  EXPECT_THROW(schema.violation("1." + std::string(500, '1')), InputError);
  EXPECT_EQ(schema.violation("2"), std::nullopt);
  EXPECT_NE(schema.violation("0"), std::nullopt);
}

}  // namespace
}  // namespace heed
