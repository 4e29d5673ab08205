// A server in a program of its own, beside its models.
#include "heed/server.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heed/error.h"
#include "heed/interrupt.h"
#include "tests/engine/random_adapter.h"
#include "tests/engine/small_models.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

const Json kPrompt{{"model", "mine"}, {"prompt", "the old sea"}, {"max_tokens", 8}};

std::string completion(const Server& server, const std::string& model) {
  Json body = kPrompt;
  body["model"] = model;
  const Answer answer = HttpClient(server.port()).request("POST", "/v1/completions", body.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.json()["choices"][0]["text"];
}

ServerOptions serving(std::vector<ModelSource> models) {
  return {.port = 0, .models = std::move(models)};
}

TEST(EmbeddedServer, AnswersWithAModelThatIsLoaded) {
  const Model model = Model::load(engine::models().decoder());
  const std::string alone = model.generate("the old sea", {.max_new_tokens = 8}).text;
  Server server(serving({{.name = "mine", .model = model}}));
  server.listen();
  server.load();
  EXPECT_EQ(completion(server, "mine"), alone);
  EXPECT_EQ(model.generate("the old sea", {.max_new_tokens = 8}).text, alone);
}

TEST(EmbeddedServer, ServesTheAdaptersOfAModelThatIsLoaded) {
  const TemporaryDirectory directory;
  const auto adapter = engine::write_adapter(directory / "adapter", engine::models().decoder(), 1);
  const Model model =
      Model::load(engine::models().decoder(), {.adapters = {{.path = adapter, .name = "poems"}}});
  const Model plain = Model::load(engine::models().decoder());
  Server server(serving({{.name = "mine", .model = model}}));
  server.listen();
  server.load();
  EXPECT_EQ(completion(server, "mine"), plain.generate("the old sea", {.max_new_tokens = 8}).text);
  EXPECT_EQ(completion(server, "poems"), model.generate("the old sea", {.max_new_tokens = 8}).text);
}

TEST(EmbeddedServer, KeepsALoadedModelWhenItServesOthersToo) {
  const Model model = Model::load(engine::models().decoder());
  Server server(serving({{.name = "mine", .model = model}}));
  server.listen();
  server.load();
  const std::string alone = completion(server, "mine");
  server.reload({{.name = "mine", .model = model}, {.name = "other", .model = model}});
  EXPECT_EQ(completion(server, "mine"), alone);
  EXPECT_EQ(completion(server, "other"), alone);
  server.reload({{.name = "other", .model = model}});
  EXPECT_EQ(HttpClient(server.port()).request("POST", "/v1/completions", kPrompt.dump()).status,
            404);
}

TEST(EmbeddedServer, RefusesOptionsOutOfRange) {
  const auto refused = [](const auto& change) {
    ServerOptions options{.port = 0};
    change(options);
    EXPECT_THROW(Server{options}, Error);
  };
  refused([](ServerOptions& options) { options.queue.requests = -1; });
  refused([](ServerOptions& options) { options.queue.tokens = 0; });
  refused([](ServerOptions& options) { options.http.connections = 0; });
  refused([](ServerOptions& options) { options.http.header_bytes = 10; });
  refused([](ServerOptions& options) { options.http.body_bytes = size_t{1} << 62; });
  refused([](ServerOptions& options) { options.http.idle_time = 0ms; });
  refused([](ServerOptions& options) { options.request_time = -1ms; });
  refused([](ServerOptions& options) { options.request_time = std::chrono::milliseconds::max(); });
  refused([](ServerOptions& options) { options.api_keys = {"key", ""}; });
  const Model model = Model::load(engine::models().decoder());
  Server both(serving({{.name = "mine", .path = "elsewhere", .model = model}}));
  EXPECT_THROW(both.load(), Error);
  Server wrong_port(ServerOptions{.port = 70'000});
  EXPECT_THROW(wrong_port.listen(), Error);
}

TEST(EmbeddedServer, DrainsUntilItIsInterrupted) {
  Server server(serving({{.name = "mine", .path = engine::models().decoder().string()}}));
  server.listen();
  server.load();
  HttpClient reading(server.port());
  EXPECT_EQ(reading.request("GET", "/health").status, 200);  // it was accepted
  reading.send("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_FALSE(server.drain(120ms));  // a request without its end
  const auto begin = std::chrono::steady_clock::now();
  {
    const InterruptScope scope([] { return true; });
    EXPECT_THROW(server.drain(1h), Interrupted);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST(EmbeddedServer, StaysWithItsProcessWhenThatForks) {
  auto server = std::make_unique<Server>(
      serving({{.name = "mine", .path = engine::models().decoder().string()}}));
  server->listen();
  server->load();
  const std::string alone = completion(*server, "mine");
  int left[2], leave[2];  // whether the child has left the server, and may end
  ASSERT_TRUE(pipe(left) == 0 && pipe(leave) == 0);
  const pid_t child = fork();
  if (child == 0) {
    bool refused = false;
    try {
      server->drain(1ms);
    } catch (const Error&) {
      refused = true;
    }
    server.reset();
    char byte = 0;
    close(leave[1]);
    close(left[1]);
    _exit(refused && read(leave[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(leave[0]);
  close(left[1]);
  EXPECT_EQ(completion(*server, "mine"), alone);
  const int port = server->port();
  server.reset();
  char byte = 0;
  EXPECT_EQ(read(left[0], &byte, 1), 0);
  close(left[0]);
  ServerOptions again{.port = port};  // while the child runs
  EXPECT_NO_THROW(Server(again).listen());
  close(leave[1]);
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace heed::serve
