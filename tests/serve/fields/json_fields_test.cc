#include "heed/serve/fields/json_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/error.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// What the client is told when `read` refuses the body: the field and the message.
template <typename Read>
std::pair<std::string, std::string> refusal(const std::string& body, Read read) {
  const Json json = parse_body(body);
  JsonFields fields(json);
  try {
    read(fields);
    fields.end();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 400);
    return {error.param, error.what()};
  }
  return {"", "accepted"};
}

TEST(JsonFields, NameTheFieldWhoseTypeIsWrong) {
  const auto text = [](JsonFields& fields) { fields.text("a"); };
  const auto boolean = [](JsonFields& fields) { fields.boolean("a"); };
  const auto texts = [](JsonFields& fields) { fields.texts("a"); };
  EXPECT_EQ(refusal(R"({"a":1})", text).second, "a is 1, expected a string");
  EXPECT_EQ(refusal(R"({"a":"yes"})", boolean).second, "a is \"yes\", expected true or false");
  EXPECT_EQ(refusal(R"({"a":[1]})", texts).first, "a[0]");
  EXPECT_EQ(refusal(R"({"a":{}})", texts).first, "a");
}

TEST(JsonFields, TakeIntegersInTheirRangeOnly) {
  const auto read = [](JsonFields& fields) { fields.integer("n", 1, 10); };
  for (const char* bad : {"0", "11", "-1", "1.5", "1e3", "9223372036854775808",
                          "18446744073709551616", "-9223372036854775809", "\"1\"", "true", "[1]"})
    EXPECT_EQ(refusal(std::string(R"({"n":)") + bad + "}", read).first, "n") << bad;
  for (const char* good : {"1", "10", "null"})
    EXPECT_EQ(refusal(std::string(R"({"n":)") + good + "}", read).second, "accepted") << good;
}

TEST(JsonFields, TakeNumbersInTheirRangeOnly) {
  const auto read = [](JsonFields& fields) { fields.number("t", 0, 2); };
  for (const char* bad : {"-0.1", "2.1", "\"1\"", "{}"})
    EXPECT_EQ(refusal(std::string(R"({"t":)") + bad + "}", read).first, "t") << bad;
  for (const char* good : {"0", "2", "1.5", "null"})
    EXPECT_EQ(refusal(std::string(R"({"t":)") + good + "}", read).second, "accepted") << good;
}

TEST(JsonFields, RefuseWhatNobodyAskedFor) {
  const auto [field, message] =
      refusal(R"({"a":"x","temprature":1})", [](JsonFields& fields) { fields.text("a"); });
  EXPECT_EQ(field, "temprature");
  EXPECT_EQ(message, "temprature is not a known field");
}

TEST(JsonFields, AllowTheOneValueOfWhatIsNotOffered) {
  const auto read = [](JsonFields& fields) { fields.only("best_of", 1); };
  EXPECT_EQ(refusal(R"({"best_of":1})", read).second, "accepted");
  EXPECT_EQ(refusal(R"({})", read).second, "accepted");
  EXPECT_EQ(refusal(R"({"best_of":2})", read).second, "best_of is 2, heed offers 1 only");
}

TEST(JsonFields, NameFieldsOfInnerObjectsByTheirPath) {
  const Json json = parse_body(R"({"stream_options":{"usage":true}})");
  JsonFields inner(json["stream_options"], "stream_options");
  try {
    inner.end();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.param, "stream_options.usage");
  }
}

TEST(ParseBody, RefusesWhatIsNoObject) {
  for (const char* body : {"", "  \n", "[]", "1", "\"a\"", "null"})
    EXPECT_THROW(parse_body(body), ApiError) << body;
  for (const char* body : {"{", "{\"a\":}", "{\"a\":\"\xff\"}", "{'a':1}"})
    EXPECT_THROW(parse_body(body), Error) << body;
}

TEST(ParseBody, RefusesDeepAndCrowdedJsonBeforeItIsBuilt) {
  EXPECT_THROW(parse_body("{\"a\":" + std::string(100'000, '[') + "}"), Error);
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 400'000; ++i) many += ",0";
  EXPECT_THROW(parse_body(many + "]}"), ApiError);
}

TEST(JsonFields, AWholeNumberMayBeWrittenWithAFraction) {
  EXPECT_EQ(whole_number(Json::parse("39.0")), 39);
  EXPECT_EQ(whole_number(Json::parse("-2e3")), -2000);
  EXPECT_EQ(whole_number(Json::parse("9223372036854775807")), INT64_MAX);
  for (const char* other :
       {"39.5", "1e300", "9223372036854775808", "9.3e18", "\"1\"", "true", "null"})
    EXPECT_EQ(whole_number(Json::parse(other)), std::nullopt) << other;
}

}  // namespace
}  // namespace heed::serve
