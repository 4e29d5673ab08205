// /v1/embeddings answers what Model::embed() computes.
#include "heed/base/base64.h"
#include "heed/base/file.h"
#include "heed/embedding_precision.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

TEST(Embeddings, EqualEmbed) {
  const Model model = RunningServer::shared().model("encoder");
  const std::vector<std::string> texts{"the old sea", "ship"};
  const Json found = posted("/v1/embeddings", {{"model", "encoder"}, {"input", texts}});
  const Json packed = posted(
      "/v1/embeddings", {{"model", "encoder"}, {"input", texts}, {"encoding_format", "base64"}});
  EXPECT_EQ(found["object"], "list");
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> expected = model.embed(texts[i]);
    EXPECT_EQ(found["data"][i]["index"], i);
    EXPECT_EQ(found["data"][i]["embedding"].get<std::vector<float>>(), expected);
    const std::string bytes(reinterpret_cast<const char*>(expected.data()),
                            expected.size() * sizeof(float));
    EXPECT_EQ(packed["data"][i]["embedding"], encode_base64(bytes));
  }
  EXPECT_EQ(found["usage"]["prompt_tokens"],
            model.tokenize(texts[0]).size() + model.tokenize(texts[1]).size());
  const Json of_tokens = posted(
      "/v1/embeddings",
      {{"model", "encoder"}, {"input", {model.tokenize(texts[0]), model.tokenize(texts[1])}}});
  EXPECT_EQ(of_tokens["data"], found["data"]);
  const Json shortened =
      posted("/v1/embeddings", {{"model", "encoder"}, {"input", "ship"}, {"dimensions", 8}});
  const auto vector = shortened["data"][0]["embedding"].get<std::vector<double>>();
  ASSERT_EQ(vector.size(), 8u);
  double length = 0;
  for (const double x : vector) length += x * x;
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST(Embeddings, RefuseWrongFields) {
  refused_each("/v1/embeddings", {{"model", "encoder"}, {"input", "a"}},
               {{"input", Json::array()},
                {"input", {-1}},
                {"input", {{1}, Json::array()}},
                {"encoding_format", "int8"},
                {"dimensions", 65},
                {"truncate", 1},
                {"dimension", 2}});
  std::string text;
  for (int i = 0; i < 40; ++i) text += "sea ";
  const Json error =
      refused("/v1/embeddings", {{"model", "encoder"}, {"input", {"a", text}}}, "input[1]");
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_NE(error["message"].get<std::string>().find(" tokens, and the model reads at most "),
            std::string::npos);
  refused("/v1/embeddings", {{"model", "encoder"}, {"input", std::vector<int>(40, 5)}}, "input[0]");
  posted("/v1/embeddings", {{"model", "encoder"}, {"input", text}, {"truncate", true}});
}

/// What clients cut their texts by is what an embedder's files allow, not what its context holds.
TEST(Embeddings, LimitIsTheContextLengthOfAnEmbedder) {
  const TemporaryDirectory directory;
  copy_model(RunningServer::golden("encoders/embed-bert"), directory);
  Json settings = Json::parse(read_file(directory / "tokenizer_config.json"));
  settings["model_max_length"] = 20;
  write_quickly(directory / "tokenizer_config.json", settings.dump());
  Server server({.port = 0, .models = {{.name = "short", .path = directory.path().string()}}});
  server.listen();
  server.load();
  const Json found = HttpClient(server.port()).request("GET", "/v1/models/short").json();
  EXPECT_EQ(found["context_length"], 20);
}

/// A server whose embedder has prompts by name, without a default one.
class PromptedServer {
 public:
  explicit PromptedServer(bool normalize = true, const std::string& default_prompt = "") {
    copy_model(RunningServer::golden("encoders/embed-bert"), directory_);
    Json settings = Json::parse(read_file(directory_ / "config_sentence_transformers.json"));
    settings["prompts"] = {{"search_query", "the old "}, {"passage", "a "}, {"classification", ""}};
    if (!default_prompt.empty()) settings["default_prompt_name"] = default_prompt;
    write_quickly(directory_ / "config_sentence_transformers.json", settings.dump());
    if (!normalize) {
      Json modules = Json::parse(read_file(directory_ / "modules.json"));
      modules.erase(2);
      write_quickly(directory_ / "modules.json", modules.dump());
    }
    server_.emplace(
        ServerOptions{.port = 0, .models = {{.name = "m", .path = directory_.path().string()}}});
    server_->listen();
    server_->load();
  }

  Answer post(const std::string& path, const Json& request) const {
    return HttpClient(server_->port()).request("POST", path, request.dump());
  }
  Json vector_of(const Json& fields = Json::object()) const {
    Json request = {{"input", "sea"}};
    request.update(fields);
    const Answer answer = post("/v1/embeddings", request);
    EXPECT_EQ(answer.status, 200) << request << answer.body;
    return answer.json()["data"][0]["embedding"];
  }

 private:
  TemporaryDirectory directory_;
  std::optional<Server> server_;
};

TEST(Embeddings, PutThePromptOfAPurposeBeforeEachText) {
  const PromptedServer server;
  const Json query = server.vector_of({{"input", "the old sea"}});
  const Json document = server.vector_of({{"input", "a sea"}});
  EXPECT_NE(query, document);
  for (const Json& fields : {Json{{"input_type", "query"}}, Json{{"task", "retrieval.query"}},
                             Json{{"input_type", "search_query"}}})
    EXPECT_EQ(server.vector_of(fields), query) << fields;
  for (const Json& fields : {Json{{"input_type", "document"}}, Json{{"task", "retrieval.passage"}}})
    EXPECT_EQ(server.vector_of(fields), document) << fields;
  EXPECT_EQ(server.vector_of({{"task", "classification"}}), server.vector_of());
  const Answer tokens = server.post("/v1/embeddings", {{"input", {5, 6}}, {"input_type", "query"}});
  EXPECT_EQ(tokens.status, 400);
  const Answer cohere =
      server.post("/v2/embed", {{"texts", {"sea"}}, {"input_type", "search_query"}});
  EXPECT_EQ(cohere.json()["embeddings"]["float"][0], query);
  const Answer tei = server.post("/embed", {{"inputs", "sea"}, {"prompt_name", "passage"}});
  EXPECT_EQ(tei.json()[0], document);
  EXPECT_EQ(server.post("/embed", {{"inputs", "sea"}, {"prompt_name", "query"}}).status, 400);
  const PromptedServer with_default(true, "passage");
  EXPECT_EQ(with_default.vector_of(), document);
  EXPECT_EQ(with_default.vector_of({{"input_type", "query"}}), query);
  EXPECT_EQ(with_default.post("/api/embed", {{"input", "sea"}}).json()["embeddings"][0],
            with_default.vector_of());
}

TEST(Embeddings, NameAPurposeThatHasNoEffect) {
  const Json request = {{"model", "encoder"}, {"input", "sea"}, {"task", "separation"}};
  const Answer answer = post("/v1/embeddings", request);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("x-heed-ignored"), "task");
}

TEST(Embeddings, HaveVoyagesAndJinasFields) {
  const auto vector_of = [](const Json& fields = Json::object()) {
    Json request = {{"model", "encoder"}, {"input", "the sea"}};
    request.update(fields);
    return posted("/v1/embeddings", request)["data"][0]["embedding"];
  };
  EXPECT_EQ(vector_of({{"output_dimension", 8}}), vector_of({{"dimensions", 8}}));
  EXPECT_EQ(vector_of({{"embedding_type", "base64"}}), vector_of({{"encoding_format", "base64"}}));
  const auto whole = vector_of().get<std::vector<double>>();
  const auto bits = vector_of({{"embedding_type", "ubinary"}}).get<std::vector<int>>();
  const auto signed_bits = vector_of({{"output_dtype", "binary"}}).get<std::vector<int>>();
  ASSERT_EQ(bits.size(), whole.size() / 8);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(bits[i / 8] >> (7 - i % 8) & 1, whole[i] > 0);
  for (size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(signed_bits[i], bits[i] - 128);
  const std::string bytes(bits.begin(), bits.end());
  EXPECT_EQ(vector_of({{"output_dtype", "ubinary"}, {"encoding_format", "base64"}}),
            encode_base64(bytes));
  const Answer refusal =
      post("/v1/embeddings",
           Json{{"model", "encoder"}, {"input", std::vector<int>(40, 5)}, {"truncation", false}});
  EXPECT_EQ(refusal.status, 400);
  EXPECT_TRUE(refusal.json().contains("detail"));
  refused_each("/v1/embeddings", {{"model", "encoder"}, {"input", "a"}},
               {{"output_dtype", "int8"}, {"late_chunking", true}, {"output_dimension", 65}});
  refused("/v1/embeddings",
          {{"model", "encoder"},
           {"input", "a"},
           {"output_dtype", "binary"},
           {"embedding_type", "ubinary"}},
          "embedding_type");
}

TEST(Embeddings, HaveLengthOneIfAskedTo) {
  const PromptedServer raw(false);
  const auto squares = [](const Json& vector) {
    double sum = 0;
    for (const double x : vector.get<std::vector<double>>()) sum += x * x;
    return sum;
  };
  EXPECT_GT(std::abs(squares(raw.vector_of()) - 1), 1e-3);
  EXPECT_NEAR(squares(raw.vector_of({{"normalized", true}})), 1, 1e-5);
  EXPECT_EQ(raw.vector_of({{"normalized", false}}), raw.vector_of());
  EXPECT_EQ(raw.post("/embed", {{"inputs", "sea"}, {"normalize", false}}).json()[0],
            raw.vector_of());
  EXPECT_NEAR(squares(raw.post("/embed", {{"inputs", "sea"}}).json()[0]), 1, 1e-5);
  EXPECT_EQ(PromptedServer().post("/embed", {{"inputs", "sea"}, {"normalize", false}}).json(),
            raw.post("/embed", {{"inputs", "sea"}, {"normalize", false}}).json());
}

/// ranges.npy of D dimensions, from -1 to 1.
std::string ranges_file(size_t dimensions) {
  const std::vector<float> least(dimensions, -1.0f), largest(dimensions, 1.0f);
  std::vector<float> both = least;
  both.insert(both.end(), largest.begin(), largest.end());
  return npy_file_of(
      quantize_embeddings(both, static_cast<int64_t>(dimensions), EmbedPrecision::float32));
}

TEST(Embeddings, AreScaledToBytesByTheRangesOfTheConfiguration) {
  const TemporaryDirectory directory;
  write_quickly(directory / "ranges.npy", ranges_file(16));
  const std::string model = RunningServer::golden("encoders/embed-bert").string();
  Server server(
      {.port = 0,
       .models = {
           {.name = "bytes", .path = model, .embedding_ranges = directory.path() / "ranges.npy"}}});
  server.listen();
  server.load();
  HttpClient client(server.port());
  const auto post_to = [&](const std::string& path, Json fields) {
    fields["model"] = "bytes";
    return client.request("POST", path, fields.dump());
  };
  const auto vector_of = [&](const Json& fields) {
    Json request = {{"input", "the old sea"}};
    request.update(fields);
    return post_to("/v1/embeddings", request).json()["data"][0]["embedding"];
  };
  const auto whole = vector_of(Json::object()).get<std::vector<float>>();
  const auto bytes = vector_of({{"output_dtype", "uint8"}}).get<std::vector<int>>();
  const auto signed_bytes = vector_of({{"embedding_type", "int8"}}).get<std::vector<int>>();
  ASSERT_EQ(bytes.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(bytes[i], (whole[i] + 1) / 2 * 255, 1.001);
    EXPECT_EQ(signed_bytes[i], bytes[i] - 128);
  }
  EXPECT_EQ(vector_of({{"output_dtype", "uint8"}, {"encoding_format", "base64"}}),
            encode_base64(std::string(bytes.begin(), bytes.end())));
  const Json cohere =
      post_to("/v2/embed", {{"texts", {"the old sea"}}, {"embedding_types", {"int8", "uint8"}}})
          .json()["embeddings"];
  EXPECT_EQ(cohere["int8"][0], Json(signed_bytes));
  EXPECT_EQ(cohere["uint8"][0], Json(bytes));
  const Answer refusal = post_to(
      "/v1/embeddings", {{"input", "a"}, {"output_dtype", "int8"}, {"output_dimension", 8}});
  EXPECT_EQ(refusal.status, 400);
  EXPECT_NE(refusal.body.find("the ranges of 16 dimensions"), std::string::npos) << refusal.body;
}

TEST(Embeddings, RefuseRangesThatDoNotFitTheModel) {
  const TemporaryDirectory directory;
  write_quickly(directory / "ranges.npy", ranges_file(17));
  const auto error_with = [&](const std::string& model, const std::string& file) {
    Server server({.port = 0,
                   .models = {{.name = "bytes",
                               .path = RunningServer::golden(model).string(),
                               .embedding_ranges = directory.path() / file}}});
    server.listen();
    return error_of([&] { server.load(); });
  };
  EXPECT_NE(error_with("encoders/embed-bert", "ranges.npy")
                .find("ranges of 17 dimensions, and the model makes vectors of 16"),
            std::string::npos);
  EXPECT_NE(error_with("encoders/embed-bert", "none.npy").find("none.npy"), std::string::npos);
}

TEST(Embeddings, HaveCoheresForm) {
  const std::vector<std::string> texts{"the old sea", "ship"};
  const Json plain = posted("/v1/embeddings", {{"model", "encoder"}, {"input", texts}});
  const Json answer = posted("/v2/embed", {{"model", "encoder"},
                                           {"texts", texts},
                                           {"embedding_types", {"float", "base64", "ubinary"}}});
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(answer["embeddings"]["float"][i], plain["data"][i]["embedding"]);
  EXPECT_EQ(answer["embeddings"].size(), 3u);
  EXPECT_EQ(answer["texts"], Json(texts));
  EXPECT_EQ(answer["meta"]["tokens"]["input_tokens"], plain["usage"]["prompt_tokens"]);
  const std::string text(400, 'a');
  const Json request = {{"model", "encoder"}, {"texts", {std::string("the sea ") + text}}};
  posted("/v2/embed", request);
  for (const Json& fields : {Json{{"truncate", "START"}}, Json{{"embedding_types", {"int8"}}},
                             Json{{"images", {"data:"}}}, Json{{"input_type", "image"}}}) {
    Json wrong = request;
    wrong.update(fields);
    const Answer refusal = post("/v2/embed", wrong);
    EXPECT_EQ(refusal.status, 400) << fields;
    EXPECT_NE(refusal.json()["message"].get<std::string>().find(fields.begin().key()),
              std::string::npos);
  }
}

}  // namespace
}  // namespace heed::serve
