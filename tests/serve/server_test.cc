// What all routes have in common.
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

TEST(Server, AnswersHeadWithoutABody) {
  HttpClient client(RunningServer::shared().port());
  const Answer head = client.request("HEAD", "/v1/models");
  EXPECT_EQ(head.status, 200);
  // The connection is usable: no byte of a body came.
  const Answer whole = client.request("GET", "/v1/models");
  EXPECT_EQ(whole.json()["object"], "list");
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(whole.body.size()));
}

TEST(Server, SaysWhichRoutesAndMethodsThereAre) {
  const Answer missing = get("/v2/models");
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("/v2/models"), std::string::npos);
  const Answer wrong = get("/v1/embeddings");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_NE(wrong.body.find("POST"), std::string::npos);
  EXPECT_EQ(wrong.headers.at("allow"), "POST");
  const Answer posted_to = post("/health", std::string());
  EXPECT_EQ(posted_to.status, 405);
  EXPECT_EQ(posted_to.headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(missing.headers.count("allow"), 0u);
}

TEST(Server, RefusesBodiesThatAreNoJson) {
  for (const char* body : {"", "{", "[]", "{\"model\": \"lm\", \"text\": \"\xff\"}", "nul"})
    EXPECT_EQ(post("/v1/tokenize", std::string(body)).status, 400) << body;
  const Json deep = Json::parse(post("/v1/tokenize", std::string(100'000, '[')).body);
  EXPECT_TRUE(deep.contains("error"));
}

TEST(Server, ChecksKeysAndOrigins) {
  ServerOptions options{.port = 0};
  options.models = {{.name = "lm", .path = RunningServer::shared().path_of("lm")}};
  options.api_keys = {"secret"};
  options.cors_origins = {"https://example.com"};
  Server server(options);
  server.listen();
  EXPECT_EQ(HttpClient(server.port()).request("GET", "/health").status, 503);
  server.load();
  HttpClient client(server.port());
  EXPECT_EQ(client.request("GET", "/health").status, 200);
  const std::string body = R"({"text": "the sea"})";  // the only model needs no name
  const Answer refused = client.request("POST", "/v1/tokenize", body);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.json()["error"]["code"], "invalid_api_key");
  EXPECT_EQ(
      client.request("POST", "/v1/tokenize", body, {{"Authorization", "Bearer secrets"}}).status,
      401);
  const Answer allowed =
      client.request("POST", "/v1/tokenize", body,
                     {{"Authorization", "Bearer secret"}, {"Origin", "https://example.com"}});
  EXPECT_EQ(allowed.status, 200) << allowed.body;
  EXPECT_EQ(allowed.headers.at("access-control-allow-origin"), "https://example.com");
  const Answer other = client.request("GET", "/health", {}, {{"Origin", "https://evil.example"}});
  EXPECT_FALSE(other.headers.contains("access-control-allow-origin"));
  const Answer preflight = client.request(
      "OPTIONS", "/v1/tokenize", {},
      {{"Origin", "https://example.com"}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(preflight.status, 204);
}

}  // namespace
}  // namespace heed::serve
