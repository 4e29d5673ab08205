#include "heed/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(ParseJson, ReportsThePositionOfASyntaxError) {
  const auto expect = [](const std::string& text, const std::string& reason) {
    expect_error([&] { parse_json(text, "config.json"); }, "config.json: is not JSON: " + reason);
  };
  expect("", "parse error at line 1, column 1");
  expect("{\"a\": 1,}", "parse error at line 1, column 9");
  expect("{\n\"a\" 1}", "parse error at line 2, column 5");
  expect("\"\xff\"", "parse error at line 1, column 2");
  expect("[1e999]", "number overflow parsing '1e999'");
}

TEST(ParseJson, MessageIsShortAndPrintableForAnyInput) {
  const std::string text = "\"" + std::string(100000, 'x');
  EXPECT_LT(error_of([&] { parse_json(text, "config.json"); }).size(), 300u);
  const std::string bytes = "{\"\x01\n\x80\": nul}";
  for (const char c : error_of([&] { parse_json(bytes, "config.json"); })) EXPECT_GE(c, ' ');
}

TEST(ParseJson, RejectsDeepNesting) {
  const std::string shallow = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(parse_json(shallow, "f").is_array());
  expect_error([] { parse_json(std::string(10000000, '['), "f"); },
               "f: brackets nest deeper than 64 levels");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  expect_error([&] { parse_json(objects, "f"); }, "f: brackets nest deeper than 64 levels");
}

TEST(ParseJson, IgnoresBracketsInsideStrings) {
  const std::string text = "\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"";
  EXPECT_TRUE(parse_json(text, "f").is_string());
}

TEST(ParseJson, LastOfTwoMembersWithOneNameWins) {
  EXPECT_EQ(get<int>(parse_json(R"({"a": 1, "a": 2})", "f"), "a", "f"), 2);
}

TEST(Get, ReadsEverySupportedType) {
  const auto json = parse_json(
      R"({"b": true, "i": -3, "n": 2.5, "whole": 2, "s": "text", "large": 9223372036854775807})",
      "f");
  EXPECT_EQ(get<bool>(json, "b", "f"), true);
  EXPECT_EQ(get<int32_t>(json, "i", "f"), -3);
  EXPECT_EQ(get<double>(json, "n", "f"), 2.5);
  EXPECT_EQ(get<float>(json, "whole", "f"), 2.0f);
  EXPECT_EQ(get<std::string>(json, "s", "f"), "text");
  EXPECT_EQ(get<int64_t>(json, "large", "f"), std::numeric_limits<int64_t>::max());
}

TEST(Get, ReportsWhatWasExpectedAndFound) {
  const auto json = parse_json(
      R"({"d_model": "x", "wide": 1180591620717411303424, "half": 2.0, "big": 4294967296,
          "unsigned": 9223372036854775808, "null": null, "flag": 1})",
      "config.json");
  const auto expect = [&](const char* key, const std::string& reason) {
    expect_error([&] { get<int32_t>(json, key, "config.json"); }, reason);
  };
  expect("d_model", "config.json: d_model is \"x\", expected an integer");
  expect("wide", "config.json: wide is 1.1805916207174113e+21, expected an integer");
  expect("half", "config.json: half is 2.0, expected an integer");
  expect("big", "config.json: big is 4294967296, expected -2147483648 to 2147483647");
  expect("unsigned", "config.json: unsigned is 9223372036854775808, expected -2147483648");
  expect("null", "config.json: null is null, expected an integer");
  expect("absent", "config.json: absent is missing");
  expect_error([&] { get<bool>(json, "flag", "config.json"); },
               "config.json: flag is 1, expected true or false");
  expect_error([&] { get<double>(json, "d_model", "config.json"); },
               "config.json: d_model is \"x\", expected a number");
  expect_error([&] { get<std::string>(json, "flag", "config.json"); },
               "config.json: flag is 1, expected a string");
  expect_error([&] { get<int>(json["flag"], "a", "config.json"); },
               "config.json: expected an object, found 1");
}

TEST(GetOr, ReturnsTheDefaultForAbsentAndNull) {
  const auto json = parse_json(R"({"null": null, "there": 7, "text": "x"})", "f");
  EXPECT_EQ(get_or(json, "absent", 5, "f"), 5);
  EXPECT_EQ(get_or(json, "null", 5, "f"), 5);
  EXPECT_EQ(get_or(json, "there", 5, "f"), 7);
  expect_error([&] { get_or(json, "text", 5, "f"); }, "f: text is \"x\", expected an integer");
  expect_error([] { get_or(nlohmann::json(1), "a", 5, "f"); }, "f: expected an object, found 1");
}

TEST(IntegerOf, ChecksBothLimits) {
  const auto number = [](const char* text) { return nlohmann::json::parse(text); };
  EXPECT_EQ(integer_of(number("5"), "n", "f", 5, 5), 5);
  expect_error([&] { integer_of(number("4"), "n", "f", 5, 9); }, "f: n is 4, expected 5 to 9");
  expect_error([&] { integer_of(number("10"), "n", "f", 5, 9); }, "f: n is 10, expected 5 to 9");
  expect_error([&] { integer_of(number("-1"), "n", "f", 0, 9); }, "f: n is -1, expected 0 to 9");
  expect_error([&] { integer_of(number("18446744073709551615"), "n", "f", -1, 9); }, "expected -1");
}

TEST(Excerpt, IsCutToTheGivenLength) {
  EXPECT_EQ(excerpt(nlohmann::json::array({1, "a"})), "[1,\"a\"]");
  EXPECT_EQ(excerpt(std::string(100, 'x'), 5), "\"xxxx...");
}

}  // namespace
}  // namespace heed
