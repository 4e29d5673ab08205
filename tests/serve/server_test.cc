// What all routes have in common.
#include <algorithm>
#include <future>
#include <thread>

#include "heed/base/mutex.h"
#include "tests/engine/layered_folder.h"
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

TEST(Server, ListsTheModelsThatItIsLoading) {
  const LayeredFolder folder({"encoders/embed-bert"});
  folder.change("config_sentence_transformers.json", {{"colour", 1}});
  ServerOptions options{.port = 0};
  options.models = {{.name = "lm", .path = RunningServer::shared().path_of("lm")},
                    {.name = "encoder", .path = folder.path().string()}};
  std::promise<void> is_loading, may_go_on;
  options.warn = [&](const std::string&) {  // that heed does not know the colour
    is_loading.set_value();
    may_go_on.get_future().wait();
  };
  Server server(options);
  server.listen();
  std::thread loading([&] { server.load(); });
  const auto listed = [&] {
    const Json list = HttpClient(server.port()).request("GET", "/v1/models").json();
    Json found = Json::array();
    for (const Json& model : list["data"])
      found.push_back(fmt::format("{} {}", model["id"].dump(), model["loaded"].dump()));
    return found;
  };
  is_loading.get_future().wait();
  EXPECT_EQ(listed(), Json({"\"lm\" true", "\"encoder\" false"}));
  EXPECT_EQ(HttpClient(server.port()).request("POST", "/v1/score", R"({"model": "lm"})").status,
            503);
  may_go_on.set_value();
  loading.join();
  EXPECT_EQ(listed(), Json({"\"lm\" true", "\"encoder\" true"}));
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
  const Answer preflight =
      client.request("OPTIONS", "/v1/tokenize", {},
                     {{"Origin", "https://example.com"},
                      {"Access-Control-Request-Method", "POST"},
                      {"Access-Control-Request-Headers", "authorization,x-stainless-lang"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.at("access-control-allow-headers"), "authorization,x-stainless-lang");
  EXPECT_NE(allowed.headers.at("access-control-expose-headers").find("Retry-After"),
            std::string::npos);
  EXPECT_EQ(refused.headers.at("www-authenticate"), "Bearer");
}

TEST(Server, NamesRequestsThatItCannotReadAndLetsPagesReadTheRefusal) {
  std::vector<std::string> lines;
  Mutex mutex;
  ServerOptions options{.port = 0, .http = {.header_bytes = 1000, .body_bytes = 1000}};
  options.cors_origins = {"*"};
  options.log = [&](const std::string& line) {
    const MutexLock lock(mutex);
    lines.push_back(line);
  };
  Server server(options);
  server.listen();
  const auto answer_to = [&](const std::string& text) {
    HttpClient client(server.port());
    client.send(text);
    return client.read();
  };
  const std::string post_line = "POST / HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n";
  const Answer large =
      answer_to(post_line + "Origin: https://b.example\r\nContent-Length: 2000\r\n\r\n");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.headers.at("x-request-id"), "mine");
  EXPECT_EQ(large.headers.at("access-control-allow-origin"), "https://b.example");
  const Answer expects = answer_to(post_line + "Expect: a\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(expects.status, 417);
  EXPECT_EQ(expects.headers.at("x-request-id"), "mine");
  const Answer headers = answer_to("GET / HTTP/1.1\r\nX: " + std::string(2000, 'a') + "\r\n\r\n");
  EXPECT_EQ(headers.status, 431);
  EXPECT_FALSE(headers.headers.at("x-request-id").empty());
  const Answer nonsense = answer_to("nonsense\r\n\r\n");
  EXPECT_EQ(nonsense.status, 400);
  EXPECT_FALSE(nonsense.headers.at("x-request-id").empty());
  const std::string metrics = HttpClient(server.port()).request("GET", "/metrics").body;
  for (const char* reason :
       {"body_too_large", "expectation_failed", "headers_too_large", "not_http"})
    EXPECT_NE(metrics.find("heed_refusals_total{reason=\"" + std::string(reason) + "\"} 1\n"),
              metrics.npos)
        << reason << metrics;
  const MutexLock lock(mutex);
  EXPECT_EQ(Json::parse(lines.at(0))["id"], "mine");
  EXPECT_EQ(Json::parse(lines.at(0))["status"], 413);
}

TEST(Server, PassesTheTraceOn) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  HttpClient client(RunningServer::shared().port());
  EXPECT_EQ(
      client.request("GET", "/v1/models", {}, {{"traceparent", trace}}).headers.at("traceparent"),
      trace);
  EXPECT_FALSE(client.request("GET", "/v1/models", {}, {{"traceparent", "00-a"}})
                   .headers.contains("traceparent"));
}

TEST(Server, LogsProbesUnlessToldOtherwise) {
  for (const bool log_health : {true, false}) {
    std::vector<std::string> routes;
    {
      ServerOptions options{.port = 0};
      options.log_health = log_health;
      options.log = [&](const std::string& line) { routes.push_back(Json::parse(line)["route"]); };
      Server server(options);
      server.listen();
      HttpClient client(server.port());
      for (const char* path : {"/health", "/metrics", "/v1/models"}) client.request("GET", path);
    }
    EXPECT_EQ(std::ranges::count(routes, "/health"), log_health ? 1 : 0);
    EXPECT_EQ(std::ranges::count(routes, "/metrics"), log_health ? 1 : 0);
    EXPECT_EQ(std::ranges::count(routes, "/v1/models"), 1);
  }
}

}  // namespace
}  // namespace heed::serve
