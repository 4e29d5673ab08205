// The description of the routes is what the server does.
#include <algorithm>
#include <set>

#include "heed/serve/routes/routes.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

Json description() { return get("/openapi.json").json(); }

/// A request of each route that the server answers with 200.
const Json kRequests = {
    {"/v1/completions", {{"model", "lm"}, {"prompt", "a"}, {"max_tokens", 1}}},
    {"/infill",
     {{"model", "coder"}, {"input_prefix", "a"}, {"input_suffix", "b"}, {"n_predict", 1}}},
    {"/v1/chat/completions",
     {{"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}, {"max_tokens", 1}}},
    {"/v1/responses", {{"model", "chat"}, {"input", "a"}, {"max_output_tokens", 1}}},
    {"/v1/messages",
     {{"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}, {"max_tokens", 1}}},
    {"/v1/messages/count_tokens",
     {{"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}}},
    {"/api/chat",
     {{"model", "chat"},
      {"messages", {{{"role", "user"}, {"content", "a"}}}},
      {"options", {{"num_predict", 1}}}}},
    {"/api/generate", {{"model", "lm"}, {"prompt", "a"}, {"options", {{"num_predict", 1}}}}},
    {"/api/embed", {{"model", "encoder"}, {"input", "sea"}}},
    {"/api/embeddings", {{"model", "encoder"}, {"prompt", "sea"}}},
    {"/api/show", {{"model", "chat"}}},
    {"/v1/embeddings", {{"model", "encoder"}, {"input", "sea"}}},
    {"/v2/embed", {{"model", "encoder"}, {"texts", {"sea"}}}},
    {"/", {{"model", "encoder"}, {"inputs", "sea"}}},
    {"/embed", {{"model", "encoder"}, {"inputs", "sea"}}},
    {"/embed_sparse", {{"model", "masked"}, {"inputs", "sea"}}},
    {"/embed_all", {{"model", "encoder"}, {"inputs", "sea"}}},
    {"/similarity",
     {{"model", "encoder"}, {"inputs", {{"source_sentence", "sea"}, {"sentences", {"ship"}}}}}},
    {"/predict", {{"model", "classifier"}, {"inputs", "sea"}}},
    {"/classify", {{"model", "classifier"}, {"input", "sea"}}},
    {"/v1/translate", {{"model", "en-de"}, {"text", "a"}, {"max_new_tokens", 2}}},
    {"/v1/rerank", {{"model", "reranker"}, {"query", "a"}, {"documents", {"b"}}}},
    {"/rerank", {{"model", "reranker"}, {"query", "a"}, {"documents", {"b"}}}},
    {"/v2/rerank", {{"model", "reranker"}, {"query", "a"}, {"documents", {"b"}}}},
    {"/v1/score", {{"model", "lm"}, {"text", "the sea"}}},
    {"/v1/fill", {{"model", "masked"}, {"text", "the [MASK]"}}},
    {"/v1/tokenize", {{"model", "lm"}, {"text", "a"}}},
    {"/v1/detokenize", {{"model", "lm"}, {"tokens", {5}}}},
    {"/v1/attention", {{"model", "lm"}, {"text", "a"}}},
    {"/translate", {{"q", "a"}, {"source", "en"}, {"target", "de"}}},
    {"/detect", {{"q", "the sea"}}}};

/// What follows a reference to a schema.
Json resolved(const Json& document, const Json& schema) {
  if (!schema.contains("$ref")) return schema;
  return document[Json::json_pointer(schema["$ref"].get<std::string>().substr(1))];
}

TEST(OpenApi, ListsTheRoutes) {
  const Json document = description();
  EXPECT_EQ(document["openapi"], "3.1.0");
  std::set<std::string> served, described;
  for (const Route& route : all_routes()) served.insert(std::string(route.method) + route.path);
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      std::string name = method;
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      described.insert(name + path);
      const Route* route = find_route(name, path);
      if (route) {
        EXPECT_EQ(operation.contains("security"), route->needs_no_key) << path;
      }
    }
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, HasNoReferenceToWhatIsMissing) {
  const Json document = description();
  EXPECT_EQ(get("/openapi.json").body.find("\"of\""), std::string::npos) << "not an option";
  for (const Json& value : document.flatten())
    if (value.is_string() && value.get<std::string>().starts_with("#/")) {
      EXPECT_TRUE(document.contains(Json::json_pointer(value.get<std::string>().substr(1))))
          << value;
    }
}

/// The answer of a server that refuses what a route does not know.
Answer post_strictly(const std::string& path, const Json& request) {
  static const RunningServer server(UnknownFields::refuse);
  return HttpClient(server.port()).request("POST", path, request.dump());
}

/// A field of any route that a route's schema does not have must be unknown to it; those that its
/// schema has are known, and exactly the required ones are.
TEST(OpenApi, ListsTheFields) {
  const Json document = description();
  std::set<std::string> all;
  std::map<std::string, Json> schemas;
  for (const auto& [path, methods] : document["paths"].items()) {
    if (!methods.contains("post") || find_route("POST", path)->manages) continue;
    const Json& content = methods["post"]["requestBody"]["content"];
    if (!content.contains("application/json")) continue;  // a form with a file
    schemas[path] = resolved(document, content["application/json"]["schema"]);
    for (const auto& [name, property] : schemas[path]["properties"].items()) all.insert(name);
    EXPECT_FALSE(schemas[path].contains("additionalProperties"));
  }
  EXPECT_EQ(schemas.size(), kRequests.size());
  for (const auto& [path, schema] : schemas) {
    ASSERT_TRUE(kRequests.contains(path)) << path;
    posted(path, kRequests[path]);
    for (const std::string& name : all) {
      if (kRequests[path].contains(name)) continue;
      Json request = kRequests[path];
      request[name] = nullptr;
      const Answer answer = post_strictly(path, request);
      // Scores read other fields of an encoder-decoder.
      const bool paired = path == "/v1/score" && (name == "source" || name == "target");
      if (!paired) {
        EXPECT_EQ(answer.status == 200, schema["properties"].contains(name))
            << path << ' ' << name << ": " << answer.body;
      }
    }
    for (const Json& name : schema.value("required", Json::array())) {
      Json request = kRequests[path];
      request.erase(name.get<std::string>());
      EXPECT_EQ(post(path, request).status, 400) << path << ' ' << name;
    }
  }
}

}  // namespace
}  // namespace heed::serve
