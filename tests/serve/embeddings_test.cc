// /v1/embeddings answers what Model::embed() computes.
#include "heed/base/base64.h"
#include "heed/base/file.h"
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

}  // namespace
}  // namespace heed::serve
