// Checkpoints of Stanford's ColBERT. The expected numbers come from
// tests/golden/multi_vector/stanford.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/convert.h"
#include "heed/error.h"
#include "heed/io/safetensors.h"
#include "heed/model.h"
#include "heed/quantize.h"
#include "tests/engine/layered_folder.h"

namespace heed {
namespace {

nlohmann::json golden_colbert() {
  return nlohmann::json::parse(read_file(LayeredFolder::golden("multi_vector") / "stanford.json"));
}

/// The encoder of embed-bert with a projection in the same file, without sentence-transformers'
/// files.
class StanfordFolder : public LayeredFolder {
 public:
  explicit StanfordFolder(const nlohmann::json& settings, bool projects = true)
      : LayeredFolder({"encoders/embed-bert"}) {
    std::vector<io::NamedTensor> tensors;
    {
      const auto encoder = io::open_model_tensors(path());
      for (const std::string& name : encoder->names())
        tensors.push_back({"bert." + name, encoder->get(name).clone()});
    }
    const auto projection = golden_colbert().at("projection").get<std::vector<float>>();
    if (projects) tensors.push_back({"linear.weight", Tensor::of({8, 16}, projection)});
    write_safetensors(path() / "model.safetensors", tensors, {});
    for (const char* name :
         {"modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"})
      std::filesystem::remove(path() / name);
    change("config.json", {{"architectures", {"HF_ColBERT"}}});
    write_quickly(path() / "artifact.metadata", settings.dump());
  }
};

void expect_rows(const MultiVectorEmbedding& found, const nlohmann::json& expected) {
  ASSERT_EQ(found.tokens.size(), expected.size());
  for (size_t v = 0; v < found.values.size(); ++v)
    EXPECT_NEAR(found.values[v], expected[v / 8][v % 8].get<double>(), 1e-5) << v;
}

TEST(StanfordColbert, VectorsAndScoresAreThoseOfItsFormulas) {
  const auto texts = encoder_texts();
  for (const auto& one : golden_colbert().at("cases")) {
    const StanfordFolder folder(one["settings"]);
    const Model model = Model::load(folder.path());
    EXPECT_EQ(model.warnings(), std::vector<std::string>());
    EXPECT_TRUE(model.tasks().rerank && !model.tasks().embed);
    const auto queries = model.embed_multi_vector(texts, {.task = EmbedTask::query}),
               documents = model.embed_multi_vector(texts, {.task = EmbedTask::document});
    for (size_t i = 0; i < texts.size(); ++i) {
      SCOPED_TRACE(texts[i]);
      expect_rows(queries[i], one["query"][i]);
      expect_rows(documents[i], one["document"][i]);
      const auto scores = model.document_scores(texts[i], texts);
      for (size_t d = 0; d < texts.size(); ++d)
        EXPECT_NEAR(scores[d], one["scores"][i][d].get<double>(), 1e-5);
    }
  }
}

TEST(StanfordColbert, SettingsThatHeedDoesNotApplyAreNamed) {
  const auto refusal = [](const nlohmann::json& settings, bool projects = true) {
    const StanfordFolder folder(settings, projects);
    return message_of([&] { Model::load(folder.path()).embed_multi_vector({"a"}); });
  };
  EXPECT_NE(refusal({{"similarity", "l2"}}).find("similarity is \"l2\", expected cosine"),
            std::string::npos);
  EXPECT_NE(refusal({{"interaction", "flipr"}}).find("interaction is \"flipr\""),
            std::string::npos);
  EXPECT_NE(refusal({{"doc_maxlen", 0}}).find("doc_maxlen is 0, expected 1 to"), std::string::npos);
  EXPECT_NE(refusal({{"query_maxlen", "long"}}).find("artifact.metadata: query_maxlen"),
            std::string::npos);
  EXPECT_NE(refusal(nlohmann::json::object(), false).find("linear.weight is missing"),
            std::string::npos);
  const StanfordFolder folder(nlohmann::json::object());
  const TemporaryDirectory target;
  expect_error([&] { quantize_model(folder.path(), target.path() / "copy", {}); },
               "heed does not write checkpoints of Stanford's ColBERT");
  expect_error([&] { convert_model(folder.path(), target.path() / "copy"); },
               "heed does not write checkpoints of Stanford's ColBERT");
  expect_error([&] { convert_model(folder.path(), target.path() / "copy.gguf"); },
               "a vector for each token");
  std::filesystem::remove(folder.path() / "artifact.metadata");
  EXPECT_NE(message_of([&] {
              Model::load(folder.path()).embed("a");
            }).find("artifact.metadata has, and it is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
