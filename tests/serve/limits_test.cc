// Limits, cancellation and the end of a server whose model never ends an output by itself.
#include <future>
#include <optional>
#include <thread>

#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

/// A server with one model that generates as long as it is let.
class BusyServer {
 public:
  explicit BusyServer(ServerOptions options = {}) {
    options.port = 0;
    write_quickly(directory_ / "config.json",
                  R"({"model_type": "llama", "vocab_size": 120, "hidden_size": 32,
                      "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
                      "max_position_embeddings": 1000000, "rms_norm_eps": 1e-5,
                      "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": null})");
    for (const char* file : {"tokenizer.model"})
      std::filesystem::copy_file(RunningServer::golden("sentencepiece/bpe.model"),
                                 directory_ / file);
    write_quickly(directory_ / "tokenizer_config.json",
                  R"({"add_bos_token": false, "add_eos_token": false})");
    options.models.push_back({.name = "m", .path = directory_.path().string()});
    options.models.back().load.random_weights = 1;
    options.models.back().batching = {.max_active_tokens = 1 << 20, .max_active_requests = 2};
    server_.emplace(std::move(options));
    server_->listen();
    server_->load();
  }

  uint16_t port() const { return server_->port(); }
  Server& server() { return *server_; }

  /// A sample of GET /metrics without labels, or of the only model.
  double metric(const std::string& name) const {
    const std::string text = HttpClient(port()).request("GET", "/metrics").body;
    const size_t line = text.find("\n" + name);
    return std::stod(text.substr(text.find(' ', line + 1)));
  }
  /// Whether a sample becomes this value in time.
  bool becomes(const std::string& name, double value) const {
    for (int i = 0; i < 2000 && metric(name) != value; ++i) std::this_thread::sleep_for(5ms);
    return metric(name) == value;
  }

 private:
  TemporaryDirectory directory_;
  std::optional<Server> server_;
};

std::string generate(int tokens, const std::string& more = "") {
  const std::string body =
      R"({"prompt": "the sea", "max_tokens": )" + std::to_string(tokens) + more + "}";
  return "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(Limits, EndTheWorkOfClientsThatLeave) {
  BusyServer server;
  {
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < 6; ++i) {  // two of them run, the others wait
      clients.push_back(std::make_unique<HttpClient>(server.port()));
      clients.back()->send(generate(900'000, i % 2 == 0 ? R"(, "n": 2)" : ""));
    }
    ASSERT_TRUE(server.becomes("heed_running_requests", 9));
  }
  EXPECT_TRUE(server.becomes("heed_running_requests", 0));
  EXPECT_TRUE(server.becomes("heed_queued_requests", 0));
  EXPECT_TRUE(server.becomes("heed_queued_tokens", 0));
}

TEST(Limits, RefuseWhatWouldWaitTooLong) {
  ServerOptions options;
  options.queue.requests = 3;
  BusyServer server(options);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 5; ++i) {  // two run, three wait
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    clients.back()->send(generate(400'000));
    ASSERT_TRUE(server.becomes("heed_running_requests", i + 1));
  }
  ASSERT_TRUE(server.becomes("heed_queued_requests", 3));
  HttpClient late(server.port());
  late.send(generate(1));
  const Answer refused = late.read();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_EQ(refused.json()["error"]["code"], "server_overloaded");
  EXPECT_EQ(late.request("GET", "/health").status, 200);
  clients.clear();
  ASSERT_TRUE(server.becomes("heed_queued_requests", 0));
  late.send(generate(1));
  EXPECT_EQ(late.read().status, 200);
}

TEST(Limits, CountTheTokensOfListsAndSingleInputsAlike) {
  ServerOptions options;
  options.queue.tokens = 100;
  BusyServer server(options);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 2; ++i) {  // both run
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    clients.back()->send(generate(400'000));
    ASSERT_TRUE(server.becomes("heed_running_requests", i + 1));
    ASSERT_TRUE(server.becomes("heed_queued_tokens", 0));
  }
  const auto send = [&](HttpClient& client, const Json& prompt) {
    const std::string body = Json{{"prompt", prompt}, {"max_tokens", 1}}.dump();
    client.send("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  const std::vector<int> thirty(30, 5), sixty(60, 5), many(101, 5);
  clients.push_back(std::make_unique<HttpClient>(server.port()));
  send(*clients.back(), sixty);  // waits
  ASSERT_TRUE(server.becomes("heed_queued_tokens", 60));
  HttpClient late(server.port());
  for (const Json& prompt : {Json(sixty), Json{thirty, thirty}}) {
    send(late, prompt);
    EXPECT_EQ(late.read().status, 429);
  }
  send(late, many);  // never
  EXPECT_EQ(late.read().status, 400);
  EXPECT_EQ(server.metric("heed_queued_tokens"), 60);
}

TEST(Limits, EndRequestsAtTheirDeadline) {
  BusyServer server;
  HttpClient client(server.port());
  const Answer late =
      client.request("POST", "/v1/completions", R"({"prompt": "the sea", "max_tokens": 900000})",
                     {{"X-Request-Timeout", "0.1"}});
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.json()["error"]["code"], "deadline_exceeded");
  EXPECT_TRUE(server.becomes("heed_running_requests", 0));
  for (const char* bad : {"0", "-1", "soon", "1e9", "nan"})
    EXPECT_EQ(client.request("POST", "/v1/completions", "{}", {{"X-Request-Timeout", bad}}).status,
              400)
        << bad;
}

TEST(Limits, EndAStreamAtItsDeadlineWithAnError) {
  BusyServer server;
  HttpClient client(server.port());
  const Answer late = client.request(
      "POST", "/v1/completions", R"({"prompt": "the sea", "max_tokens": 900000, "stream": true})",
      {{"X-Request-Timeout", "0.2"}});
  EXPECT_EQ(late.status, 200);
  const std::vector<Event> events = events_of(late.body);
  ASSERT_GT(events.size(), 1u);
  EXPECT_EQ(Json::parse(events.back().data)["error"]["code"], "deadline_exceeded");
}

TEST(Limits, RefuseNewRequestsWhileTheServerEnds) {
  BusyServer server;
  HttpClient busy(server.port()), other(server.port());
  EXPECT_EQ(other.request("GET", "/health").status, 200);
  busy.send(generate(2000, R"(, "stream": true)"));  // no long wait for a part of it
  ASSERT_TRUE(server.becomes("heed_running_requests", 1));
  auto drained = std::async(std::launch::async, [&] { return server.server().drain(30s); });
  int health = 200;
  for (int i = 0; i < 1000 && health == 200; ++i)
    health = HttpClient(server.port()).request("GET", "/health").status;
  EXPECT_EQ(health, 503);
  HttpClient late(server.port());
  late.send(generate(1));
  EXPECT_EQ(late.read().status, 503);
  EXPECT_EQ(busy.read().status, 200);
  EXPECT_TRUE(drained.get());
}

TEST(Limits, AnswerClientsThatConnectedBeforeTheServerEnds) {
  BusyServer server;
  HttpClient busy(server.port()), silent(server.port()), asked_before(server.port());
  EXPECT_EQ(asked_before.request("GET", "/health").status, 200);
  busy.send(generate(2000, R"(, "stream": true)"));
  ASSERT_TRUE(server.becomes("heed_running_requests", 1));
  auto drained = std::async(std::launch::async, [&] { return server.server().drain(30s); });
  EXPECT_THROW(asked_before.read(), std::runtime_error);  // closed: the server is draining
  EXPECT_EQ(silent.request("GET", "/health").status, 503);
  EXPECT_EQ(busy.read().status, 200);
  EXPECT_TRUE(drained.get());
}

TEST(Limits, KeepTheAnswersOfManyClientsApart) {
  BusyServer server;
  const auto ask = [&](int i) {
    HttpClient client(server.port());
    client.send(
        generate(20 + i, R"(, "temperature": 1, "logprobs": 0, "seed": )" + std::to_string(i)));
    return client.read().json()["choices"].dump();
  };
  std::vector<std::string> alone;
  for (int i = 0; i < 24; ++i) alone.push_back(ask(i));
  std::vector<std::future<std::string>> together;
  for (int i = 0; i < 24; ++i) together.push_back(std::async(std::launch::async, ask, i));
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(together[i].get(), alone[i]);
}

}  // namespace
}  // namespace heed::serve
