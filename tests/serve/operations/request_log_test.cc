#include "heed/serve/operations/request_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed::serve {
namespace {

TEST(RequestLog, IsALineOfJsonWithoutTheText) {
  HttpRequest request;
  request.id = "a-1";
  request.method = "POST";
  request.body = "secret \xff\n";
  Call call(std::make_shared<HttpTransaction>(request, 1000, [] {}), "/v1/completions");
  call.set_model("m");
  call.fail(invalid_request("prompt", "two\nlines"));
  const std::string line = log_line(call, 400, false);
  EXPECT_EQ(line.find('\n'), line.npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["id"], "a-1");
  EXPECT_EQ(json["status"], 400);
  EXPECT_EQ(json["model"], "m");
  EXPECT_EQ(json["error"], "two\nlines");
  EXPECT_TRUE(json["queue_seconds"].is_null());
  EXPECT_EQ(line.find("secret"), line.npos);
  const std::string with_text = log_line(call, 400, true);
  EXPECT_NE(with_text.find("secret"), line.npos);
  EXPECT_EQ(with_text.find('\n'), line.npos);
}

TEST(RequestLog, SaysWhoAskedForWhatAndTheTrace) {
  HttpRequest request;
  request.path = "/v1/nothing";
  request.headers = {{"user-agent", std::string(300, 'a')},
                     {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  Call call(std::make_shared<HttpTransaction>(request, 1000, [] {}), "other");
  call.key_name = "tests";
  const auto json = nlohmann::json::parse(log_line(call, 404, false));
  EXPECT_EQ(json["path"], "/v1/nothing");
  EXPECT_EQ(json["user_agent"], std::string(256, 'a'));
  EXPECT_EQ(json["key"], "tests");
  EXPECT_EQ(json["trace_id"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(json["parent_id"], "b7ad6b7169203331");
  const auto refusal = nlohmann::json::parse(refusal_line(request, 413, "too large"));
  EXPECT_EQ(refusal["status"], 413);
  EXPECT_EQ(refusal["error"], "too large");
}

TEST(RequestLog, ListsTheKeywordsThatAssertNothing) {
  Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/v1/completions");
  EXPECT_FALSE(nlohmann::json::parse(log_line(call, 200, false)).contains("ignored_keywords"));
  call.set_ignored_keywords({"colour"});
  const auto json = nlohmann::json::parse(log_line(call, 200, false));
  EXPECT_EQ(json["ignored_keywords"], nlohmann::json::array({"colour"}));
}

TEST(RequestLog, SaysHowLongTheQueueAndTheFirstTokenTook) {
  Admission admission({});
  Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/v1/completions");
  call.enqueue(admission, 5);
  call.part_started(5);
  call.tokens_generated(1);
  call.tokens_generated(2);
  const auto json = nlohmann::json::parse(log_line(call, 200, false));
  EXPECT_EQ(json["input_tokens"], 5);
  EXPECT_EQ(json["output_tokens"], 3);
  EXPECT_LE(json["queue_seconds"], json["first_token_seconds"]);
  EXPECT_LE(json["first_token_seconds"], json["seconds"]);
}

}  // namespace
}  // namespace heed::serve
