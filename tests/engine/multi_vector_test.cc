// A vector for each token (late interaction), compared with sentence-transformers'
// MultiVectorEncoder. The expected numbers come from tests/golden/multi_vector/make.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/error.h"
#include "heed/model.h"
#include "tests/engine/layered_folder.h"

namespace heed {
namespace {

class MultiVectorFolder : public LayeredFolder {
 public:
  explicit MultiVectorFolder(const std::string& name)
      : LayeredFolder({"encoders/embed-bert", "multi_vector/" + name}) {}
};

void expect_multi_vectors(const std::vector<MultiVectorEmbedding>& found,
                          const nlohmann::json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].tokens.size(), expected[i].size()) << "text " << i;
    const auto width = static_cast<size_t>(found[i].dimension);
    for (size_t v = 0; v < found[i].values.size(); ++v)
      EXPECT_NEAR(found[i].values[v], expected[i][v / width][v % width].get<double>(), 1e-5)
          << "text " << i << ", token " << v / width;
  }
}

class MultiVector : public ::testing::TestWithParam<const char*> {};

TEST_P(MultiVector, EmbeddingsAndScoresAreThoseOfSentenceTransformers) {
  const MultiVectorFolder folder(GetParam());
  const Model model = Model::load(folder.path());
  const auto json = LayeredFolder::expected("multi_vector/" + std::string(GetParam()));
  EXPECT_TRUE(model.warnings().empty());
  EXPECT_TRUE(model.tasks().embed_multi_vector && !model.tasks().embed);
  EXPECT_EQ(model.embedding_size(), 8);
  const auto texts = encoder_texts();
  const auto queries = model.embed_multi_vector(texts, {.task = EmbedTask::query}),
             documents = model.embed_multi_vector(texts, {.task = EmbedTask::document});
  expect_multi_vectors(queries, json.at("query"));
  expect_multi_vectors(documents, json.at("document"));
  expect_multi_vectors(model.embed_multi_vector(texts), json.at("plain"));
  for (size_t q = 0; q < queries.size(); ++q)
    for (size_t d = 0; d < documents.size(); ++d)
      EXPECT_NEAR(max_sim(queries[q], documents[d]), json.at("scores")[q][d].get<double>(), 1e-5);
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(
        model.embed_multi_vector({texts[i]}, {.task = EmbedTask::query, .batch_tokens = 1})[0],
        queries[i]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MultiVector, ::testing::Values("colbert", "attended", "pylate"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(MultiVector, ModelsRerankByTheirScores) {
  const MultiVectorFolder folder(GetParam());
  const Model model = Model::load(folder.path());
  const auto scores =
      LayeredFolder::expected("multi_vector/" + std::string(GetParam())).at("scores");
  EXPECT_TRUE(model.tasks().rerank && model.reranks_by_max_sim());
  const auto texts = encoder_texts();
  for (size_t q = 0; q < texts.size(); ++q) {
    const auto found = model.document_scores(texts[q], texts);
    EXPECT_EQ(found, model.document_logits(texts[q], texts));
    for (size_t d = 0; d < texts.size(); ++d)
      EXPECT_NEAR(found[d], scores[q][d].get<double>(), 1e-5);
    const auto ranked = model.rerank(texts[q], texts);
    EXPECT_EQ(ranked.front().score, *std::ranges::max_element(found));
    EXPECT_EQ(model.document_scores(texts[q], {texts[2]}, {.batch_tokens = 1})[0], found[2]);
  }
  EXPECT_EQ(model.document_scores("the cat", {}).size(), 0u);
}

TEST(MultiVectors, OfDocumentsAreTruncatedAsAskedFor) {
  const MultiVectorFolder folder("colbert");
  const Model model = Model::load(folder.path());
  EXPECT_EQ(model.max_classified_tokens({.max_seq_length = 5}), 5);
  const std::string text = "the cat sits by the fire", beginning = "the cat";
  EXPECT_EQ(model.document_scores("cat", {text}, {.max_seq_length = 5}),
            model.document_scores("cat", {beginning}));
  EXPECT_GT(model.count_tokens_to_rerank("cat", text),
            model.count_tokens_to_rerank("cat", beginning));
  EXPECT_NE(message_of([&] {
              model.document_scores("cat", {text, "\xff"}, {}, 7);
            }).find("document 8"),
            std::string::npos);
}

std::string refusal_of(const std::string& file, const nlohmann::json& changes) {
  const MultiVectorFolder copy("colbert");
  copy.change(file, changes);
  return message_of(
      [&] { Model::load(copy.path()).embed_multi_vector({"a"}, {.task = EmbedTask::query}); });
}

TEST(MultiVectors, SayWhatIsWrong) {
  const std::string settings = "sentence_bert_config.json";
  const auto expansion = [](const nlohmann::json& changes) {
    nlohmann::json json = {{"strategy", "fixed"}, {"length", 12}};
    json.update(changes);
    return nlohmann::json{{"query_expansion", json}};
  };
  EXPECT_NE(refusal_of(settings, expansion({{"strategy", "max"}})).find("strategy is \"max\""),
            std::string::npos);
  EXPECT_NE(refusal_of(settings, expansion({{"token", "[NONE]"}}))
                .find("queries are expanded with \"[NONE]\", which the tokenizer does not have"),
            std::string::npos);
  EXPECT_NE(refusal_of(settings, expansion({{"length", 49}})).find("at most 48"),
            std::string::npos);
  EXPECT_NE(refusal_of(settings, {{"query_length", 5}}).find("query_length is 5, below"),
            std::string::npos);
  EXPECT_NE(refusal_of("2_MultiVectorMask/config.json", {{"keep_only_token_ids", {3}}})
                .find("keep_only_token_ids is [3], which heed does not apply"),
            std::string::npos);
  const Model dense = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  EXPECT_NE(message_of([&] {
              dense.embed_multi_vector({"a"});
            }).find("cannot embed each token, expected a MultiVectorEncoder"),
            std::string::npos);
  const MultiVectorFolder folder("colbert");
  const Model model = Model::load(folder.path());
  EXPECT_EQ(message_of([&] { model.embed("a"); }),
            "the model makes no single vector of a text, but one for each token (multi-vector)");
  EXPECT_NE(message_of([&] {
              model.embed_multi_vector({"a"}, {.normalize = true});
            }).find("are of embed()"),
            std::string::npos);
}

TEST(MultiVectors, AreComparedByMaxSim) {
  const MultiVectorEmbedding query{{1, 2}, 2, {1, 0, 0, 2}}, document{{3, 4}, 2, {0.5, 3, 0.25, 1}};
  EXPECT_DOUBLE_EQ(max_sim(query, document), 6.5);
  EXPECT_NE(message_of([&] { max_sim(query, {}); }), "");
  EXPECT_NE(message_of([&] { max_sim(query, {{1}, 1, {1}}); }), "");
}

}  // namespace
}  // namespace heed
