// TEI's /embed_sparse, /embed_all and /similarity, and tokens as inputs of /embed.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/model.h"
#include "tests/base/testing.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

/// A server of one model.
class OneModel {
 public:
  explicit OneModel(const std::string& golden)
      : model_(Model::load(RunningServer::golden(golden))) {
    server_.emplace(ServerOptions{
        .port = 0, .models = {{.name = "m", .path = RunningServer::golden(golden).string()}}});
    server_->listen();
    server_->load();
  }

  const Model& model() const { return model_; }
  Answer post(const std::string& path, const Json& request) const {
    return HttpClient(server_->port()).request("POST", path, request.dump());
  }
  Json posted(const std::string& path, const Json& request) const {
    const Answer answer = post(path, request);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json();
  }

 private:
  Model model_;
  std::optional<Server> server_;
};

TEST(TeiVectors, SparseOnesAreThoseOfTheModel) {
  const OneModel server("sparse_embeddings/masked-lm");
  const std::vector<std::string> texts{"a cat", "the fire"};
  const Json found = server.posted("/embed_sparse", {{"inputs", texts}});
  const auto expected = server.model().embed_sparse(texts);
  ASSERT_EQ(found.size(), 2u);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].indices.size());
    for (size_t e = 0; e < found[i].size(); ++e) {
      EXPECT_EQ(found[i][e]["index"], expected[i].indices[e]);
      EXPECT_EQ(found[i][e]["value"].get<float>(), expected[i].values[e]);
    }
  }
  EXPECT_EQ(server.posted("/embed_sparse", {{"inputs", "a cat"}}), Json({found[0]}));
}

TEST(TeiVectors, OfAllTokensAreThoseThatArePooled) {
  const OneModel server("encoders/embed-bert");
  const Json found = server.posted("/embed_all", {{"inputs", {"the cat", "a"}}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].size(), server.model().tokens_to_embed("the cat").size());
  const auto first = server.model().embed("the cat", {.pooling = Pooling::cls, .normalize = false});
  EXPECT_EQ(found[0][0].get<std::vector<float>>(), first);
  const Answer sparse = server.post("/embed_sparse", {{"inputs", "a"}, {"model", "m"}});
  EXPECT_NE(sparse.status, 200);
  EXPECT_TRUE(sparse.json().contains("error"));
}

TEST(TeiVectors, AreComparedByTheirCosine) {
  const OneModel server("encoders/embed-bert");
  const Json request = {
      {"inputs", {{"source_sentence", "the cat"}, {"sentences", {"the cat", "a fire"}}}},
      {"parameters", {{"truncate", true}}}};
  const Json found = server.posted("/similarity", request);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].get<double>(), 1, 1e-6);
  EXPECT_LT(found[1].get<double>(), 1);
  EXPECT_EQ(server.post("/similarity", {{"inputs", {{"sentences", {"a"}}}}}).status, 400);
  EXPECT_EQ(server.post("/similarity", {{"inputs", "a"}}).status, 400);
}

TEST(TeiVectors, OfTokensAreThoseOfTheirText) {
  const OneModel server("encoders/embed-bert");
  const auto tokens = server.model().tokens_to_embed("the cat");
  EXPECT_EQ(server.posted("/embed", {{"inputs", {tokens}}}),
            server.posted("/embed", {{"inputs", {"the cat"}}}));
}

TEST(TeiVectors, OfThePathWithoutANameAreThoseOfTheKindOfModel) {
  const Json one = {{"inputs", "the cat"}};
  const Json texts = {{"query", "the cat"}, {"texts", {"a fire", "a ship"}}};
  for (const auto& [golden, path, request] : {std::tuple{"encoders/embed-bert", "/embed", one},
                                              {"encoders/classify", "/predict", one},
                                              {"encoders/rerank", "/rerank", texts}}) {
    const OneModel server(golden);
    EXPECT_EQ(server.posted("/", request), server.posted(path, request)) << golden;
  }
  const Answer answer = OneModel("encoders/embed-bert").post("/", texts);
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.json().contains("error_type"));
}

TEST(TeiVectors, OfTextsThatAreTooLongAreRefusedUnlessTheyMayBeCut) {
  const OneModel server("encoders/embed-bert");
  std::string text;
  for (int i = 0; i < 200; ++i) text += "cat ";
  for (const char* path : {"/embed", "/embed_all"}) {
    EXPECT_EQ(server.post(path, {{"inputs", text}}).status, 400) << path;
    EXPECT_EQ(server.post(path, {{"inputs", text}, {"truncate", true}}).status, 200) << path;
  }
  for (int i = 0; i < 250'000; ++i) text += "cat ";
  EXPECT_EQ(server.post("/embed_all", {{"inputs", text}}).status, 400);
}

}  // namespace
}  // namespace heed::serve
