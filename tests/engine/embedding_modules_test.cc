// Modules of sentence-transformers after the Transformer, compared with its vectors. The expected
// numbers come from tests/golden/embedding_modules/make.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/convert.h"
#include "heed/error.h"
#include "heed/model.h"
#include "heed/quantize.h"
#include "tests/engine/layered_folder.h"

namespace heed {
namespace {

/// The Transformer of embed-bert with the modules of a golden folder.
class ModulesFolder : public LayeredFolder {
 public:
  explicit ModulesFolder(const std::string& name)
      : LayeredFolder({"encoders/embed-bert", "embedding_modules/" + name}) {}
};

nlohmann::json expected_of(const std::string& name) {
  return LayeredFolder::expected("embedding_modules/" + name);
}

void expect_vectors(const std::vector<std::vector<float>>& found, const nlohmann::json& expected) {
  ASSERT_GE(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size());
    for (size_t c = 0; c < found[i].size(); ++c)
      EXPECT_NEAR(found[i][c], expected[i][c].get<double>(), 1e-5) << "text " << i << ", " << c;
  }
}

/// The arguments of SentenceTransformer.encode().
EmbedOptions options_of(const nlohmann::json& arguments) {
  EmbedOptions options;
  if (arguments.value("normalize_embeddings", false)) options.normalize = true;
  if (arguments.contains("truncate_dim"))
    options.dimensions = arguments["truncate_dim"].get<int64_t>();
  if (arguments.contains("prompt_name"))
    options.prompt_name = arguments["prompt_name"].get<std::string>();
  return options;
}

class EmbeddingModules : public ::testing::TestWithParam<const char*> {};

TEST_P(EmbeddingModules, GiveTheVectorsOfSentenceTransformers) {
  const ModulesFolder copy(GetParam());
  const Model model = Model::load(copy.path());
  EXPECT_TRUE(model.warnings().empty());
  const auto json = expected_of(GetParam());
  const std::vector<std::string> texts = encoder_texts();
  expect_vectors(model.embed_batch(texts), json.at("embeddings"));
  EXPECT_EQ(model.embedding_size(), json.at("embeddings")[0].size());
  if (!json.contains("encoded")) return;
  const EmbedOptions options = options_of(json.at("arguments"));
  expect_vectors(model.embed_batch(texts, options), json.at("encoded"));
  EXPECT_EQ(model.embedding_size(options), json.at("encoded")[0].size());
}

INSTANTIATE_TEST_SUITE_P(Kinds, EmbeddingModules,
                         ::testing::Values("poolings", "dense", "dense-bin", "dense-twice",
                                           "residual", "normalize-first", "tokens", "prompts",
                                           "truncated"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(DenseModule, HasTheActivationsOfTorch) {
  const ModulesFolder copy("activations");
  const auto activations = expected_of("activations");
  for (const auto& [name, vectors] : activations.items()) {
    SCOPED_TRACE(name);
    copy.change("2_Dense/config.json", {{"activation_function", name}});
    expect_vectors(Model::load(copy.path()).embed_batch(encoder_texts()), vectors);
  }
}

TEST(DenseModule, IsKeptByAQuantisedCopyAndRefusedByGguf) {
  const ModulesFolder copy("dense-twice");
  const TemporaryDirectory folder;
  const std::filesystem::path quantised = folder.path() / "copy";
  quantize_model(copy.path(), quantised, {});
  const auto exact = Model::load(copy.path()).embed("the cat");
  const auto near = Model::load(quantised).embed("the cat");
  ASSERT_EQ(near.size(), exact.size());
  double cosine = 0;
  for (size_t i = 0; i < exact.size(); ++i) cosine += static_cast<double>(exact[i] * near[i]);
  EXPECT_GT(cosine, 0.99);
  expect_error([&] { convert_model(copy.path(), folder.path() / "copy.gguf"); },
               "modules with weights (Dense or LayerNorm), which heed does not write into GGUF");
}

/// What a changed copy says when it embeds.
std::string error_of(const std::string& name, const std::string& file,
                     const nlohmann::json& changes) {
  const ModulesFolder copy(name);
  copy.change(file, changes);
  return message_of([&] { Model::load(copy.path()).embed("the cat"); });
}

TEST(ModulesOfEmbeddings, OfAnotherWidthOrWithUnknownSettingsAreNamed) {
  const std::string file = "2_Dense/config.json";
  EXPECT_NE(error_of("dense", file, {{"in_features", 17}})
                .find("linear.weight has shape [12, 16], expected [12, 17]"),
            std::string::npos);
  EXPECT_NE(
      error_of("dense", "1_Pooling/config.json", {{"pooling_mode", {"mean", "cls"}}})
          .find("2_Dense/config.json: the module reads vectors of 16 elements, found 32 before it"),
      std::string::npos);
  EXPECT_NE(error_of("dense", file, {{"activation_function", "torch.nn.modules.activation.PReLU"}})
                .find("activation_function is \"torch.nn.modules.activation.PReLU\", which heed "
                      "does not apply"),
            std::string::npos);
  EXPECT_NE(error_of("dense", file, {{"use_dropout", 1}})
                .find("use_dropout is 1, which heed does not apply"),
            std::string::npos);
  EXPECT_NE(
      error_of("dense", file, {{"bias", false}}).find("linear.bias is no tensor of the module"),
      std::string::npos);
  EXPECT_NE(error_of("dense", file, {{"use_residual", true}}).find("residual.weight is missing"),
            std::string::npos);
  EXPECT_NE(error_of("dense", file, {{"out_features", 0}}).find("out_features is 0, expected 1 to"),
            std::string::npos);
  EXPECT_NE(error_of("dense", file,
                     {{"module_input_name", "token_embeddings"}, {"module_output_name", nullptr}})
                .find("of no effect after Pooling"),
            std::string::npos);
  EXPECT_NE(error_of("dense", file, {{"module_output_name", "other"}})
                .find("module_output_name is \"other\""),
            std::string::npos);
}

TEST(ModulesOfEmbeddings, ThatHeedDoesNotApplyAreNamed) {
  for (const char* kind : {"WeightedLayerPooling", "CNN", "LSTM", "WordWeights", "Router", "BoW"}) {
    const ModulesFolder copy("dense");
    auto modules = nlohmann::json::parse(read_file(copy.path() / "modules.json"));
    modules[2]["type"] = std::string("sentence_transformers.models.") + kind;
    write_quickly(copy.path() / "modules.json", modules.dump());
    expect_error([&] { Model::load(copy.path()).embed("the cat"); },
                 std::string("the module ") + kind + " (");
  }
}

TEST(OptionsOfEmbeddings, OfPromptsAndDimensionsAreChecked) {
  const ModulesFolder copy("prompts");
  const Model model = Model::load(copy.path());
  expect_error([&] { model.embed("a", {.prompt_name = "other"}); },
               "prompt_name is \"other\"; the prompts of the model's files are: \"document\", "
               "\"passage\", \"query\"");
  expect_error([&] { model.embed("a", {.prompt = "", .prompt_name = "query"}); },
               "both prompt and prompt_name are given");
  expect_error([&] { model.embed("a", {.dimensions = 97}); }, "dimensions is 97, expected 1 to 96");
  expect_error([&] { model.embed("a", {.dimensions = 0}); }, "dimensions is 0");
  EXPECT_EQ(model.embed("a", {.prompt_name = "passage"}), model.embed("a"));
  EXPECT_EQ(model.embed("a", {.prompt = "the cat of "}),
            model.embed("a", {.prompt_name = "query"}));
}

TEST(OptionsOfEmbeddings, PromptsOfSentenceTransformersAreEmptyWhereFilesHaveNone) {
  const Model model = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  EXPECT_EQ(model.embed("a", {.prompt_name = "query"}), model.embed("a"));
  expect_error([&] { model.embed("a", {.prompt_name = "passage"}); }, "prompt_name is \"passage\"");
}

}  // namespace
}  // namespace heed
