// The routes of rerankers answer what Model::rerank() computes, in the forms of several APIs.
#include <algorithm>
#include <cmath>

#include "heed/base/file.h"
#include "heed/engine/loaded_model.h"
#include "tests/engine/layered_folder.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

const Json kRanked = {
    {"model", "reranker"}, {"query", "the old sea"}, {"documents", {"a ship", "the sea"}}};

Json with(Json request, const Json& fields) {
  request.update(fields);
  return request;
}

Json in_tei_form(const Json& fields = Json::object()) {
  return with({{"model", "reranker"}, {"query", "the old sea"}, {"texts", {"a ship", "the sea"}}},
              fields);
}

/// The tokens of a query and a document, as the reranker reads them.
int64_t pair_tokens(const std::string& query, const std::string& document) {
  const Model model = RunningServer::shared().model("reranker");
  const auto& tokenizer = engine::loaded(model).shared_tokenizer("reranking");
  return std::ssize(tokenizer.encode_pair(query, document).ids);
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i % 3 == 0 ? " the" : " sea";
  return text;
}

TEST(RerankRoute, EqualsRerankOfAnyNumberOfDocuments) {
  const Model model = RunningServer::shared().model("reranker");
  std::vector<std::string> documents;
  for (int i = 0; i < 300; ++i)  // more than one part
    documents.push_back(i % 3 == 0 ? "the sea" : "the ship " + std::to_string(i % 7));
  const std::vector<RankedDocument> expected = model.rerank("the old sea", documents);
  for (const char* path : {"/v1/rerank", "/rerank"}) {
    const Json answer = posted(
        path,
        with(kRanked, {{"documents", documents}, {"top_n", 250}, {"return_documents", true}}));
    ASSERT_EQ(answer["results"].size(), 250u);
    for (size_t i = 0; i < 250; ++i) {
      const Json& found = answer["results"][i];
      EXPECT_EQ(found["index"], expected[i].index);
      EXPECT_EQ(found["relevance_score"].get<double>(), expected[i].score);
      EXPECT_EQ(found["document"]["text"], documents[static_cast<size_t>(expected[i].index)]);
    }
    EXPECT_GT(answer["usage"]["total_tokens"], 300);
  }
}

TEST(RerankRoute, ReturnsDocumentsAsTheyWereGiven) {
  const Json document = {{"text", "the sea"}, {"page", 7}};
  const Json answer =
      posted("/v1/rerank", with(kRanked, {{"documents", {document}}, {"return_documents", true}}));
  EXPECT_EQ(answer["results"][0]["document"], document);
  EXPECT_EQ(answer["results"][0]["relevance_score"].get<double>(),
            RunningServer::shared().model("reranker").rerank("the old sea", {"the sea"})[0].score);
  const Json of_one =
      posted("/v1/rerank", with(kRanked, {{"documents", "the sea"}, {"return_documents", true}}));
  EXPECT_EQ(of_one["results"][0]["document"]["text"], "the sea");
}

TEST(RerankRoute, CountsTheTokensOfPairs) {
  const Json answer = posted("/v1/rerank", kRanked);
  EXPECT_EQ(answer["usage"]["total_tokens"],
            pair_tokens("the old sea", "a ship") + pair_tokens("the old sea", "the sea"));
}

TEST(RerankRoute, HasCoheresSecondForm) {
  const Json ranked = posted("/v1/rerank", with(kRanked, {{"top_n", 1}}));
  const Json answer = posted("/v2/rerank", with(kRanked, {{"top_n", 1}, {"priority", 3}}));
  EXPECT_EQ(answer["results"], ranked["results"]);
  EXPECT_EQ(answer["meta"]["tokens"]["input_tokens"], ranked["usage"]["total_tokens"]);
  EXPECT_FALSE(answer["meta"].contains("warnings"));
  const Answer refusal = post("/v2/rerank", with(kRanked, {{"relevant_spans", {{"top_n", 1}}}}));
  EXPECT_EQ(refusal.status, 400);
  EXPECT_NE(refusal.json()["message"].get<std::string>().find("relevant_spans"), std::string::npos);
}

TEST(RerankRoute, HasVoyagesForm) {
  const Json ranked = posted("/v1/rerank", kRanked)["results"];
  const Json answer =
      posted("/v1/rerank",
             with(kRanked, {{"top_k", 1}, {"truncation", true}, {"return_documents", true}}));
  ASSERT_EQ(answer["data"].size(), 1u);
  EXPECT_EQ(answer["data"][0]["index"], ranked[0]["index"]);
  EXPECT_EQ(answer["data"][0]["relevance_score"], ranked[0]["relevance_score"]);
  EXPECT_EQ(answer["data"][0]["document"], kRanked["documents"][ranked[0]["index"].get<size_t>()]);
  EXPECT_GT(answer["usage"]["total_tokens"], 0);
  const Answer refusal = post("/v1/rerank", with(kRanked, {{"top_k", 0}, {"truncation", true}}));
  EXPECT_EQ(refusal.status, 400);
  EXPECT_NE(refusal.json()["detail"].get<std::string>().find("top_k"), std::string::npos);
}

TEST(RerankRoute, HasTeisForm) {
  const Json ranked = posted("/v1/rerank", kRanked)["results"];
  const Json plain = posted("/rerank", in_tei_form());
  const Json raw = posted("/rerank", in_tei_form({{"raw_scores", true}, {"return_text", true}}));
  ASSERT_EQ(plain.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(plain[i]["index"], ranked[i]["index"]);
    EXPECT_EQ(plain[i]["score"], ranked[i]["relevance_score"]);
    EXPECT_FALSE(plain[i].contains("text"));
    EXPECT_EQ(raw[i]["text"], kRanked["documents"][raw[i]["index"].get<size_t>()]);
    EXPECT_EQ(1 / (1 + std::exp(-raw[i]["score"].get<double>())), plain[i]["score"].get<double>());
  }
  const Answer refusal = post("/rerank", in_tei_form({{"truncation_direction", "Left"}}));
  EXPECT_EQ(refusal.status, 400);
  EXPECT_EQ(refusal.json()["error_type"], "Validation");
  EXPECT_EQ(post("/rerank", in_tei_form({{"top_k", 1}})).status, 400);
  const Json best = posted("/rerank", in_tei_form({{"top_n", 1}}));  // llama.cpp's
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0], plain[0]);
}

/// The scores are those of sentence-transformers' CrossEncoder, which has the logit where a model's
/// files say so; TEI's are always the sigmoid.
TEST(RerankRoute, TeisScoresAreSigmoidsOfAnyModel) {
  const TemporaryDirectory directory;
  copy_model(RunningServer::golden("encoders/rerank"), directory);
  Json config = Json::parse(read_file(directory / "config.json"));
  config["sentence_transformers"] = {{"activation_fn", "torch.nn.modules.linear.Identity"}};
  write_quickly(directory / "config.json", config.dump());
  Server server({.port = 0, .models = {{.name = "logits", .path = directory.path().string()}}});
  server.listen();
  server.load();
  const auto first = [&](const Json& request) {
    Json own = request;
    own.erase("model");
    return HttpClient(server.port()).request("POST", "/rerank", own.dump()).json();
  };
  EXPECT_EQ(first(kRanked)["results"][0]["relevance_score"],
            posted("/rerank", in_tei_form({{"raw_scores", true}}))[0]["score"]);
  EXPECT_EQ(first(in_tei_form()), posted("/rerank", in_tei_form()));
}

/// A sum has no sigmoid.
TEST(RerankRoute, ScoresAreMaxSimOfAModelWithAVectorForEachToken) {
  const LayeredFolder folder({"encoders/embed-bert", "multi_vector/colbert"});
  const Model model = Model::load(folder.path());
  Server server({.port = 0, .models = {{.name = "colbert", .path = folder.path().string()}}});
  server.listen();
  server.load();
  const std::vector<std::string> documents{"the kitten lies by the fire", "taxes", words(40)};
  const auto expected = model.rerank("the cat", documents);
  const auto post_to = [&](const std::string& path, const Json& fields) {
    return HttpClient(server.port())
        .request("POST", path, with({{"query", "the cat"}}, fields).dump());
  };
  const Json jina = post_to("/v1/rerank", {{"documents", documents}}).json()["results"];
  const Json cohere = post_to("/v2/rerank", {{"documents", documents}}).json();
  const Json tei = post_to("/rerank", {{"texts", documents}, {"truncate", true}}).json();
  ASSERT_EQ(tei.size(), 3u);
  EXPECT_EQ(cohere["results"], jina);
  EXPECT_EQ(cohere["meta"]["warnings"].size(), 1u);  // of a document of 40 words
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(jina[i]["index"], expected[i].index);
    EXPECT_EQ(jina[i]["relevance_score"].get<double>(), expected[i].score);
    EXPECT_EQ(tei[i]["score"].get<double>(), expected[i].score);
  }
  EXPECT_EQ(post_to("/rerank", {{"texts", documents}}).status, 400);
}

TEST(RerankRoute, CutsWhatIsTooLongAsTheModelDoes) {
  const Model model = RunningServer::shared().model("reranker");
  const std::vector<std::string> documents{words(45), "the sea", words(20'000)};
  for (const std::string& query : {words(3), words(60), words(3000)}) {
    const std::vector<RankedDocument> expected = model.rerank(query, documents);
    for (const Json& request :
         {with(kRanked, {{"query", query}, {"documents", documents}}),
          in_tei_form({{"query", query}, {"texts", documents}, {"truncate", true}})}) {
      const Json answer = posted("/rerank", request);
      const Json& found = answer.is_array() ? answer : answer["results"];
      for (size_t i = 0; i < documents.size(); ++i) {
        EXPECT_EQ(found[i]["index"], expected[i].index);
        EXPECT_EQ(found[i].value(answer.is_array() ? "score" : "relevance_score", 0.0),
                  expected[i].score);
      }
    }
  }
  const Json answer = posted("/v2/rerank", with(kRanked, {{"documents", documents}}));
  EXPECT_NE(answer["meta"]["warnings"][0].get<std::string>().find("2 of"), std::string::npos);
}

TEST(RerankRoute, RefusesWhatIsTooLongIfNothingMayBeCut) {
  const Json whole = {{"truncate", false}};
  refused("/v1/rerank", with(with(kRanked, {{"query", words(100)}}), whole), "query");
  refused("/v1/rerank", with(with(kRanked, {{"documents", {"a", words(100)}}}), whole),
          "documents[1]");
  refused("/v1/rerank", with(with(kRanked, {{"documents", {"a", words(20'000)}}}), whole),
          "documents[1]");
  const Answer answer = post("/rerank", in_tei_form({{"texts", {"a", words(100)}}}));
  EXPECT_EQ(answer.status, 400);
  int count = 1;
  const auto status_of = [&](int words_of_document) {
    return post("/v1/rerank",
                with(kRanked, {{"documents", {words(words_of_document)}}, {"truncation", false}}))
        .status;
  };
  while (count < 100 && status_of(count) == 200) ++count;
  EXPECT_EQ(pair_tokens("the old sea", words(count)),
            RunningServer::shared().model("reranker").context_length() + 1);
}

TEST(RerankRoute, CutsDocumentsToMaxTokensPerDoc) {
  const Json cut =
      posted("/v2/rerank",
             with(kRanked, {{"documents", {"the sea ship", "a ship"}}, {"max_tokens_per_doc", 1}}));
  const Tokenizer tokenizer = RunningServer::shared().model("reranker").tokenizer();
  const Encoding encoding = tokenizer.encode_with_offsets("the sea ship", {.special = false});
  const std::string first = std::string("the sea ship").substr(0, encoding.offsets[0].end);
  const std::string second = std::string("a ship").substr(
      0, tokenizer.encode_with_offsets("a ship", {.special = false}).offsets[0].end);
  EXPECT_EQ(cut["results"],
            posted("/v2/rerank", with(kRanked, {{"documents", {first, second}}}))["results"]);
}

TEST(RerankRoute, RefusesWrongFields) {
  refused_each("/v1/rerank", kRanked,
               {{"query", 1},
                {"documents", Json::array()},
                {"top_n", 0},
                {"return_documents", "yes"},
                {"max_chunks_per_doc", 3},
                {"max_tokens_per_doc", 0},
                {"truncate", "END"},
                {"raw_scores", true},
                {"rank_fields", 1}});
  const Json document = {{"text", "b"}};
  refused("/v1/rerank", with(kRanked, {{"documents", std::vector<Json>(2049, document)}}),
          "documents");
  refused("/v1/rerank", with(kRanked, {{"model", "classifier"}}), "model");
}

}  // namespace
}  // namespace heed::serve
