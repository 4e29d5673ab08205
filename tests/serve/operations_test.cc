// What operators use: keys, names of models, loading and unloading, metrics, the last hour.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "heed/base/file.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

/// A server with two models, of which one has further names, and keys.
class ManagedServer {
 public:
  ManagedServer() {
    ServerOptions options{.port = 0};
    options.models = {{.name = "lm", .path = RunningServer::shared().path_of("lm")},
                      {.name = "mini", .path = RunningServer::shared().path_of("encoder")}};
    options.models[0].aliases = {"gpt-4o", "*"};
    options.models[1].on_first_use = true;
    options.named_keys = {{.name = "ops", .key = "o", .manage = true},
                          {.name = "slow", .key = "s", .requests_per_minute = 1}};
    server_.emplace(options);
    server_->listen();
    server_->load();
  }

  Answer ask(const std::string& method, const std::string& path, const Json& body,
             const std::string& key = "o") const {
    return HttpClient(server_->port())
        .request(method, path, body.is_null() ? "" : body.dump(), {{"X-Api-Key", key}});
  }
  Json model(const std::string& name) const {
    return ask("GET", "/v1/models/" + name, nullptr).json();
  }
  std::string metrics() const { return ask("GET", "/metrics", nullptr).body; }

 private:
  std::optional<Server> server_;
};

TEST(Operations, KnowAModelByAllOfItsNames) {
  const ManagedServer server;
  const Json asked = {{"prompt", "a"}, {"max_tokens", 1}};
  for (const char* name : {"lm", "gpt-4o", "any other"}) {
    Json body = asked;
    body["model"] = name;
    const Answer answer = server.ask("POST", "/v1/completions", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.json()["model"], "lm");
  }
  EXPECT_EQ(server.ask("POST", "/v1/tokenize", {{"model", "mini"}, {"text", "a"}}).status, 200);
  EXPECT_EQ(server.model("gpt-4o")["id"], "lm");
  EXPECT_EQ(server.model("lm")["aliases"], Json({"gpt-4o", "*"}));
  EXPECT_EQ(server.model("claude-9")["id"], "lm");
  EXPECT_EQ(server.ask("GET", "/v1/models", nullptr).json()["data"].size(), 2u);
  // Clients cannot make up names of metrics.
  EXPECT_EQ(server.metrics().find("any other"), std::string::npos);
  EXPECT_NE(server.metrics().find("heed_model_loads_total{model=\"lm\"} 1\n"), std::string::npos);
}

TEST(Operations, GiveAModelOtherNamesWithoutLoadingItAgain) {
  ServerOptions options{.port = 0};
  options.models = {
      {.name = "lm", .aliases = {"old"}, .path = RunningServer::shared().path_of("lm")}};
  Server server(options);
  server.listen();
  server.load();
  options.models[0].aliases = {"new"};
  server.reload(options.models);
  const auto get = [&](const std::string& path) {
    return HttpClient(server.port()).request("GET", path, "");
  };
  EXPECT_EQ(get("/v1/models/new").json()["id"], "lm");
  EXPECT_EQ(get("/v1/models/old").status, 404);
  EXPECT_NE(get("/metrics").body.find("heed_model_loads_total{model=\"lm\"} 1\n"),
            std::string::npos);
}

TEST(Operations, RefuseNamesThatSeveralModelsHave) {
  ServerOptions options{.port = 0};
  options.models = {{.name = "a"}, {.name = "b"}};
  for (ModelSource& model : options.models) model.path = RunningServer::shared().path_of("lm");
  for (const char* name : {"a", "*"}) {
    options.models[1].aliases = {name};
    options.models[0].aliases = {"*"};
    EXPECT_THROW(Server(options).load(), Error) << name;
  }
}

TEST(Operations, LoadAndUnloadModels) {
  const ManagedServer server;
  const auto manage = [&](const std::string& what, const std::string& model) {
    return server.ask("POST", "/models/" + what, {{"model", model}}).status;
  };
  EXPECT_EQ(server.model("mini")["loaded"], false);
  EXPECT_EQ(manage("load", "mini"), 200);
  EXPECT_EQ(server.model("mini")["loaded"], true);
  EXPECT_EQ(manage("unload", "mini"), 200);
  EXPECT_EQ(server.model("mini")["loaded"], false);
  EXPECT_EQ(manage("unload", "mini"), 200);  // is not loaded
  EXPECT_EQ(manage("unload", "lm"), 200);
  EXPECT_EQ(server.model("lm")["loaded"], false);
  EXPECT_EQ(
      server.ask("POST", "/v1/completions", {{"model", "lm"}, {"prompt", "a"}, {"max_tokens", 1}})
          .status,
      200);  // loads it again
  const std::string metrics = server.metrics();
  for (const char* line :
       {"heed_model_loads_total{model=\"lm\"} 2\n", "heed_model_unloads_total{model=\"lm\"} 1\n",
        "heed_model_loaded{model=\"mini\"} 0\n", "heed_model_file_bytes{model=\"mini\"} 0\n"})
    EXPECT_NE(metrics.find(line), metrics.npos) << line << metrics;
  EXPECT_EQ(server.ask("POST", "/models/unload", {{"model", "lm"}}, "s").status, 403);
  EXPECT_EQ(server.ask("POST", "/models/unload", {{"model", "lm"}}, "x").status, 401);
  EXPECT_EQ(server.ask("POST", "/models/unload", {{"text", "lm"}}).status, 400);
}

TEST(Operations, NeedAKeyThatMayManage) {
  EXPECT_EQ(post("/models/unload", Json{{"model", "lm"}}).status, 403);
  EXPECT_EQ(post("/models/load", Json{{"model", "lm"}}).status, 403);
}

TEST(Operations, LimitTheRequestsOfAKey) {
  const ManagedServer server;
  const Json body = {{"model", "lm"}, {"text", "a"}};
  EXPECT_EQ(server.ask("POST", "/v1/tokenize", body, "s").status, 200);
  const Answer refused = server.ask("POST", "/v1/tokenize", body, "s");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.json()["error"]["code"], "rate_limit_exceeded");
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 0);
  EXPECT_EQ(server.ask("GET", "/v1/models", nullptr, "s").status, 200);  // needs no model
  EXPECT_EQ(server.ask("POST", "/v1/tokenize", body, "o").status, 200);
  const std::string metrics = server.metrics();
  EXPECT_NE(metrics.find("heed_key_requests_total{key=\"slow\",status=\"429\"} 1\n"), metrics.npos);
  EXPECT_NE(metrics.find("heed_refusals_total{reason=\"rate_limit_exceeded\"} 1\n"), metrics.npos);
}

/// The names of metrics, each with its type, of Prometheus' text format, which must be right.
std::map<std::string, std::string> metrics_of(const std::string& text) {
  static const std::regex kSample(
      R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_]\w*="([^"\\\n]|\\["\\n])*",?)*\})? (\S+))");
  std::map<std::string, std::string> types;
  std::set<std::string> samples;
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, kind, name, type;
    words >> hash >> kind >> name >> type;
    if (hash == "#" && kind == "HELP") continue;
    if (hash == "#") {
      EXPECT_TRUE(types.emplace(name, type).second) << line;
      last = name;
      continue;
    }
    std::smatch sample;
    EXPECT_TRUE(std::regex_match(line, sample, kSample)) << line;
    EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    const std::string suffix = sample[1].str().substr(last.size());
    EXPECT_TRUE(sample[1].str().starts_with(last)) << line << " after " << last;
    EXPECT_TRUE(suffix.empty() || types[last] == "histogram") << line;
    EXPECT_NO_THROW(std::stod(sample[5].str())) << line;
  }
  for (const auto& [name, type] : types)
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
  return types;
}

/// The metrics of a server that has answered, been cancelled and refused.
std::map<std::string, std::string> all_metrics() {
  const ManagedServer server;
  server.ask("POST", "/v1/completions", {{"model", "lm"}, {"prompt", "a"}, {"max_tokens", 3}});
  server.ask("POST", "/v1/embeddings", {{"model", "mini"}, {"input", "a"}});
  server.ask("POST", "/v1/tokenize", {{"model", "lm"}});
  return metrics_of(server.metrics());
}

TEST(Operations, ShowWhatTheServerDoes) {
  const auto metrics = all_metrics();
  for (const char* name : {"heed_build_info",
                           "heed_ready",
                           "heed_requests_total",
                           "heed_request_seconds",
                           "heed_refusals_total",
                           "heed_cancellations_total",
                           "heed_reloads_total",
                           "heed_prefill_seconds",
                           "heed_decode_seconds",
                           "heed_kv_rows",
                           "heed_model_loaded",
                           "heed_model_file_bytes",
                           "heed_connections",
                           "heed_max_connections",
                           "heed_refused_connections_total",
                           "heed_max_active_tokens",
                           "heed_max_queued_requests",
                           "heed_tensor_bytes",
                           "process_resident_memory_bytes",
                           "process_cpu_seconds_total",
                           "process_start_time_seconds",
                           "process_open_fds",
                           "process_max_fds"})
    EXPECT_TRUE(metrics.contains(name)) << name;
}

/// The names of metrics in a file, without the suffixes of histograms.
std::set<std::string> names_in(const std::string& file) {
  const std::string text = read_file(std::filesystem::path(HEED_SOURCE_DIR) / file);
  static const std::regex kName(R"(\b(heed|process)_[a-z_]+)");
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), kName), end; found != end; ++found)
    names.insert(std::regex_replace(found->str(), std::regex("_(bucket|sum|count)$"), ""));
  return names;
}

TEST(Operations, HaveTheMetricsOfTheDashboardTheAlertsAndTheDocuments) {
  const auto metrics = all_metrics();
  for (const char* file : {"deploy/grafana.json", "deploy/alerts.yaml", "deploy/kubernetes.yaml"})
    for (const std::string& name : names_in(file))
      EXPECT_TRUE(metrics.contains(name)) << file << ": " << name;
  EXPECT_GT(names_in("deploy/grafana.json").size(), 15u);
  const std::set<std::string> documented = names_in("docs/serving.md");
  for (const auto& [name, type] : metrics) EXPECT_TRUE(documented.contains(name)) << name;
  const auto dashboard =
      Json::parse(read_file(std::filesystem::path(HEED_SOURCE_DIR) / "deploy/grafana.json"));
  EXPECT_GT(dashboard["panels"].size(), 8u);
}

TEST(Operations, CountRowsThatAreKeptApart) {
  const ManagedServer server;
  server.ask("POST", "/v1/completions",
             {{"model", "lm"}, {"prompt", "the old ship went out"}, {"max_tokens", 3}});
  const auto rows = [&](const char* state) {
    const std::string text = server.metrics();
    const std::string line = std::string("heed_kv_rows{model=\"lm\",state=\"") + state + "\"} ";
    const size_t begin = text.find(line);
    return begin == text.npos ? -1 : std::stod(text.substr(begin + line.size()));
  };
  for (int i = 0; i < 1000 && rows("used") != 0; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(rows("used"), 0);
  EXPECT_GT(rows("kept"), 0);
}

TEST(Operations, AnswerWithTheLastHour) {
  const Json history = get("/v1/history").json();
  EXPECT_EQ(history["interval_seconds"], 10);
  EXPECT_TRUE(history["memory_bytes"].is_array());
}

}  // namespace
}  // namespace heed::serve
