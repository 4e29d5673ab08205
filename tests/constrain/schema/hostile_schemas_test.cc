// JSON Schemas that were written to take exponential time or memory, or a stack without bound: each
// is compiled, or refused by name, in little time and memory.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <string>

#include "heed/constrain/schema/json_schema.h"
#include "tests/base/cost.h"

namespace heed::constrain {
namespace {

constexpr double kSeconds = 5, kMegabytes = 64;

/// part(0), part(1), ... with commas between them.
std::string list(int count, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + part(i);
  return text;
}

std::string definitions(int count, const std::function<std::string(int)>& schema) {
  return R"("$defs": {)" +
         list(count, [&](int i) { return fmt::format("\"d{}\": {}", i, schema(i)); }) + "}";
}

std::string reference(int number) { return fmt::format(R"({{"$ref": "#/$defs/d{}"}})", number); }

/// Compiles a schema. Returns why it was refused, "" if it was not.
std::string refusal(const std::string& schema) {
  SCOPED_TRACE(schema.substr(0, 100));
  return expect_cheap([&] { compile_json_schema(schema); }, kSeconds, kMegabytes);
}

void expect_refused_by(const std::string& reason, const std::string& schema) {
  const std::string text = refusal(schema);
  EXPECT_NE(text.find(reason), text.npos) << text << "\n" << schema.substr(0, 100);
}

TEST(HostileSchemas, DoNotNestWithoutBound) {
  expect_refused_by("256 levels", repeated("[", 100000) + repeated("]", 100000));
  expect_refused_by("256 levels", repeated("{\"not\":", 100000) + "true" + repeated("}", 100000));
  expect_refused_by(
      "nested too deeply",
      fmt::format(R"({{"allOf": [{}], {}}})", reference(0), definitions(10000, [](int i) {
                    return fmt::format(R"({{"allOf": [{}]}})", reference((i + 1) % 10000));
                  })));
  expect_refused_by(
      "itself", fmt::format(R"({{"$ref": "#/$defs/d0", {}}})",
                            definitions(10000, [](int i) { return reference((i + 1) % 10000); })));
}

TEST(HostileSchemas, DoNotMultiply) {
  // 2^30 combinations.
  refusal(fmt::format(R"({{"allOf": [{}]}})", list(30, [](int i) {
                        return fmt::format(
                            R"({{"anyOf": [{{"required": ["a{0}"]}}, {{"required": ["b{0}"]}}]}})",
                            i);
                      })));
  expect_refused_by("too complex",
                    fmt::format(R"({{"dependentRequired": {{{}}}}})", list(200, [](int i) {
                                  return fmt::format(R"("p{}": ["p{}"])", i, i + 1);
                                })));
  expect_refused_by("too complex",
                    fmt::format(R"({{"not": {{"enum": [{}]}}}})",
                                list(300, [](int i) { return fmt::format("[{}]", i); })));
  expect_refused_by("too complex",
                    R"({"maxItems": 600, "allOf": [)" + list(3, [](int i) {
                      constexpr const char* kKeywords[] = {"minimum", "maximum", "multipleOf"};
                      return fmt::format(R"({{"contains": {{"{}": 3}}, "maxContains": 300}})",
                                         kKeywords[i]);
                    }) + "]}");
  expect_refused_by("too complex", R"({"type": "integer", "multipleOf": 999999937,
                                       "not": {"multipleOf": 999999893}})");
}

TEST(HostileSchemas, AreNotWide) {
  const auto one = [](int i) { return fmt::format(R"("p{}": {{"maxLength": {}}})", i, i); };
  expect_refused_by("too ", fmt::format(R"({{"properties": {{{}}}}})", list(20000, one)));
  expect_refused_by("too ",
                    fmt::format(R"({{"type": "object", "required": [{}]}})",
                                list(20000, [](int i) { return fmt::format("\"p{}\"", i); })));
  expect_refused_by("65536 values", fmt::format(R"({{"enum": [{}]}})", list(100000, [](int i) {
                                                  return std::to_string(i * 7919);
                                                })));
  expect_refused_by("too complex",
                    fmt::format(R"({{"enum": ["{0}a", "{0}b"]}})", repeated("x", 1000000)));
  // Of these, none is too large.
  EXPECT_EQ(
      refusal(fmt::format(R"({{"enum": [{}]}})",
                          list(20000, [](int i) { return fmt::format("\"v{}\"", i * 7919); }))),
      "");
  EXPECT_EQ(refusal(fmt::format(R"({{"properties": {{{}}}}})", list(1000, one))), "");
}

}  // namespace
}  // namespace heed::constrain
