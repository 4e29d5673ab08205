// Sparse vectors, compared with sentence-transformers' SparseEncoder and with FlagEmbedding. The
// expected numbers come from tests/golden/sparse_embeddings/make.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/error.h"
#include "heed/model.h"
#include "tests/engine/layered_folder.h"

namespace heed {
namespace {

class SparseFolder : public LayeredFolder {
 public:
  explicit SparseFolder(const std::string& name)
      : LayeredFolder({"sparse_embeddings/masked-lm", "sparse_embeddings/" + name}) {}
};

void expect_sparse(const std::vector<SparseEmbedding>& found, const nlohmann::json& expected) {
  ASSERT_EQ(found.size(), expected.at("indices").size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].indices, expected["indices"][i].get<std::vector<int32_t>>()) << i;
    ASSERT_EQ(found[i].values.size(), expected["values"][i].size());
    for (size_t e = 0; e < found[i].values.size(); ++e) {
      const auto value = expected["values"][i][e].get<double>();
      EXPECT_NEAR(found[i].values[e], value, 1e-5 * (1 + value)) << i;
    }
  }
}

class Splade : public ::testing::TestWithParam<const char*> {};

TEST_P(Splade, GivesTheVectorsOfSentenceTransformers) {
  const SparseFolder folder(GetParam());
  const Model model = Model::load(folder.path());
  const auto json = LayeredFolder::expected("sparse_embeddings/" + std::string(GetParam()));
  EXPECT_TRUE(model.warnings().empty());
  EXPECT_TRUE(model.tasks().embed_sparse && !model.tasks().embed);
  EXPECT_EQ(model.embedding_size(), model.vocab_size());
  expect_sparse(model.embed_sparse(encoder_texts()), json);
  expect_sparse(model.embed_sparse(encoder_texts(), {.prompt_name = "query"}), json.at("query"));
  expect_sparse(model.embed_sparse(encoder_texts(), {.task = EmbedTask::query}), json.at("query"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Splade,
                         ::testing::Values("splade-max", "splade-sum", "splade-log-twice"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(SparseEmbeddings, OfAMaskedLanguageModelAreThoseOfSplade) {
  const Model model = Model::load(LayeredFolder::golden("sparse_embeddings/masked-lm"));
  EXPECT_TRUE(model.tasks().embed_sparse && model.tasks().embed);
  expect_sparse(model.embed_sparse(encoder_texts()),
                LayeredFolder::expected("sparse_embeddings/splade-max"));
}

TEST(SparseEmbeddings, DoNotDependOnTheBatch) {
  const SparseFolder folder("splade-sum");
  const Model model = Model::load(folder.path());
  const auto together = model.embed_sparse(encoder_texts());
  for (size_t i = 0; i < together.size(); ++i)
    EXPECT_EQ(model.embed_sparse({encoder_texts()[i]}, {.batch_tokens = 1})[0], together[i]);
}

TEST(SparseEmbeddings, OfBgeM3AreItsLexicalWeights) {
  const LayeredFolder folder({"encoders/embed-xlm-roberta", "sparse_embeddings/bge-m3"});
  const Model model = Model::load(folder.path());
  const auto json = LayeredFolder::expected("sparse_embeddings/bge-m3");
  EXPECT_TRUE(model.tasks().embed && model.tasks().embed_sparse &&
              model.tasks().embed_multi_vector);
  expect_sparse(model.embed_sparse(encoder_texts()), json);
  const auto vectors = model.embed_multi_vector(encoder_texts());
  for (size_t i = 0; i < vectors.size(); ++i) {
    const auto& expected = json.at("vectors")[i];
    ASSERT_EQ(vectors[i].tokens.size(), expected.size());
    for (size_t v = 0; v < vectors[i].values.size(); ++v)
      EXPECT_NEAR(vectors[i].values[v], expected[v / 16][v % 16].get<double>(), 1e-5);
  }
  const auto dense = LayeredFolder::expected("encoders/embed-xlm-roberta").at("embeddings");
  const auto found = model.embed_batch(encoder_texts());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i][3], dense[i][3].get<double>(), 1e-5);
}

TEST(SparseEmbeddings, AreComparedByTheirInnerProduct) {
  EXPECT_EQ(dot({{1, 4, 7}, {1, 2, 3}}, {{0, 4, 7, 9}, {9, 5, 2, 9}}), 16.0);
  EXPECT_EQ(dot({}, {{1}, {2}}), 0.0);
}

TEST(SparseEmbeddings, SayWhatIsWrong) {
  const SparseFolder folder("splade-max");
  const Model splade = Model::load(folder.path()),
              dense = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  EXPECT_EQ(message_of([&] { splade.embed("a"); }),
            "the model makes no single vector of a text, but a sparse one");
  EXPECT_NE(message_of([&] {
              dense.embed_sparse({"a"});
            }).find("cannot embed sparsely, expected a SparseEncoder"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              splade.embed_sparse({"a"}, {.dimensions = 3});
            }).find("dimensions and window are of embed()"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              splade.embed_sparse({"a"}, {.prompt_name = "poem"});
            }).find("prompt_name is \"poem\""),
            std::string::npos);
  const auto refusal = [](const std::string& file, const nlohmann::json& changes) {
    const SparseFolder copy("splade-max");
    copy.change(file, changes);
    return message_of([&] { Model::load(copy.path()).embed_sparse({"a"}); });
  };
  EXPECT_NE(refusal("1_SpladePooling/config.json", {{"pooling_strategy", "mean"}})
                .find("pooling_strategy is \"mean\", expected max or sum"),
            std::string::npos);
  EXPECT_NE(refusal("1_SpladePooling/config.json", {{"activation_function", "gelu"}})
                .find("activation_function is \"gelu\""),
            std::string::npos);
  EXPECT_NE(refusal("sentence_bert_config.json", {{"transformer_task", "feature-extraction"}})
                .find("transformer_task is \"feature-extraction\", expected fill-mask"),
            std::string::npos);
  EXPECT_NE(refusal("config_sentence_transformers.json", {{"max_active_dims", 0}})
                .find("max_active_dims is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
