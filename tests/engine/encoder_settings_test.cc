// The settings in the files of encoders, applied as sentence-transformers and transformers'
// pipelines apply them. The expected numbers come from tests/golden/encoders/settings.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/engine/loaded_model.h"
#include "heed/error.h"
#include "heed/model.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path kEncoders = fs::path(HEED_SOURCE_DIR) / "tests/golden/encoders";

/// A copy of a golden folder in which members of JSON files are replaced, in the files' order.
class FolderWith : public TemporaryDirectory {
 public:
  FolderWith(const std::string& name, const Json& files) {
    using OrderedJson = nlohmann::ordered_json;
    fs::copy(kEncoders / name, path(), fs::copy_options::recursive);
    for (const auto& [file, members] : files.items()) {
      const fs::path changed = path() / file;
      const OrderedJson replaced = OrderedJson::parse(members.dump());
      OrderedJson json =
          fs::exists(changed) ? OrderedJson::parse(read_file(changed)) : OrderedJson::object();
      fs::remove(changed);
      if (replaced.is_null()) continue;
      if (replaced.is_object())
        json.update(replaced);
      else
        json = replaced;
      write_quickly(changed, json.dump());
    }
  }
};

std::vector<std::string> texts_in(const fs::path& folder) {
  return Json::parse(read_file(folder / "expected.json")).at("texts");
}

void expect_vector(const std::vector<float>& found, const Json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i].get<float>(), 1e-4);
}

void expect_vectors(const Model& model, const std::vector<std::string>& texts,
                    const Json& expected) {
  EXPECT_EQ(model.embedding_size(), static_cast<int64_t>(expected[0].size()));
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i]);
    expect_vector(model.embed(texts[i]), expected[i]);
  }
}

void expect_ranking(const Model& model, const fs::path& folder,
                    const std::vector<std::string>& texts, const Json& expected) {
  const std::string query = Json::parse(read_file(folder / "expected.json")).at("query");
  for (const RankedDocument& document : model.rerank(query, texts)) {
    const auto index = static_cast<size_t>(document.index);
    EXPECT_NEAR(document.score, expected[index].get<double>(), 1e-4) << texts[index];
  }
}

void expect_places(const Model& model, const std::vector<std::string>& texts,
                   const Json& expected) {
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i]);
    const std::vector<Entity> found = model.label_tokens(texts[i]).entities;
    ASSERT_EQ(found.size(), expected[i].size());
    for (size_t e = 0; e < found.size(); ++e) {
      EXPECT_EQ(found[e].label, expected[i][e].at("label"));
      EXPECT_EQ(found[e].start, expected[i][e].at("start"));
      EXPECT_EQ(found[e].end, expected[i][e].at("end"));
      EXPECT_NEAR(found[e].score, expected[i][e].at("score").get<double>(), 1e-4);
    }
  }
}

TEST(SettingsOfEncoders, AreAppliedAsTheReferencesApplyThem) {
  for (const Json& one : Json::parse(read_file(kEncoders / "settings.json"))) {
    SCOPED_TRACE(one.at("folder").get<std::string>() + " " + one.at("files").dump());
    const FolderWith folder(one.at("folder"), one.at("files"));
    const std::vector<std::string> texts = texts_in(folder.path());
    const Model model = Model::load(folder.path());
    if (one.contains("embeddings")) expect_vectors(model, texts, one["embeddings"]);
    if (one.contains("scores")) expect_ranking(model, folder.path(), texts, one["scores"]);
    if (one.contains("entities")) expect_places(model, texts, one["entities"]);
    if (!one.contains("labels")) continue;
    for (size_t i = 0; i < texts.size(); ++i)
      for (const auto& [label, score] : model.classify(texts[i]))
        EXPECT_NEAR(score, one["labels"][i].at(label).get<double>(), 1e-4) << texts[i];
  }
}

/// The warnings of a folder with other settings.
std::vector<std::string> warnings_with(const std::string& name, const Json& files) {
  const FolderWith folder(name, files);
  std::vector<std::string> warnings =
      engine::loaded(Model::load(folder.path())).embedding.value().warnings;
  for (std::string& warning : warnings)  // each begins with the path of its file
    warning = warning.substr(folder.path().string().size() + 1);
  return warnings;
}

TEST(SettingsOfEncoders, GiveAWarningWhereFilesContradictEachOther) {
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(warnings_with("embed-bert", {}), Warnings());
  EXPECT_EQ(warnings_with("embed-bert", {{"sentence_bert_config.json", {{"max_seq_length", 12}}}}),
            Warnings());
  const Json larger{{"sentence_bert_config.json", {{"max_seq_length", 12}}},
                    {"tokenizer_config.json", {{"model_max_length", 8}}}};
  EXPECT_EQ(warnings_with("embed-bert", larger),
            Warnings{"sentence_bert_config.json: max_seq_length is 12, although model_max_length "
                     "of tokenizer_config.json is 8; max_seq_length counts"});
  const auto above =
      warnings_with("embed-bert", {{"sentence_bert_config.json", {{"max_seq_length", 60}}}});
  ASSERT_FALSE(above.empty());
  EXPECT_EQ(above.back(),
            "sentence_bert_config.json: max_seq_length is 60, and the model's context 48, which "
            "counts");
  EXPECT_EQ(warnings_with("embed-bert", {{"config_sentence_transformers.json", {{"colour", 1}}}}),
            Warnings{"config_sentence_transformers.json: colour is 1 and is ignored: heed does not "
                     "know it"});
}

TEST(SettingsOfEncoders, AreRefusedByNameWhereHeedCannotApplyThem) {
  const auto refused = [](const Json& files, const std::string& message) {
    const FolderWith folder("embed-bert", files);
    const Model model = Model::load(folder.path());
    expect_error([&] { model.embed("a cat"); }, message);
  };
  const auto module = [](const Json& settings) {
    return Json{{"sentence_bert_config.json", settings}};
  };
  refused(module({{"processing_kwargs", {{"text", {{"max_length", 4}}}}}}),
          "sentence_bert_config.json: processing_kwargs.text is {");
  refused(module({{"config_kwargs", {{"is_causal", false}}}}),
          "sentence_bert_config.json: config_kwargs.is_causal is false");
  refused(module({{"transformer_task", "fill-mask"}}),
          "sentence_bert_config.json: transformer_task is \"fill-mask\"");
  refused(module({{"modality_config", {{"message", Json::object()}}}}),
          "sentence_bert_config.json: modality_config.message is {}");
  refused(module({{"max_seq_length", 0}}), "sentence_bert_config.json: max_seq_length is 0");
  refused({{"config_sentence_transformers.json", {{"default_prompt_name", "poem"}}}},
          "config_sentence_transformers.json: default_prompt_name is \"poem\", which is not among "
          "prompts");
  refused({{"config_sentence_transformers.json", {{"prompts", {{"query", 5}}}}}},
          "config_sentence_transformers.json: prompts.query is 5, expected a text");
  refused({{"config_sentence_transformers.json", {{"prompts", "query: "}}}},
          "config_sentence_transformers.json: prompts is \"query: \", expected an object");
  refused(
      {{"1_Pooling/config.json", {{"pooling_temperature", 3}}}},
      "1_Pooling/config.json: pooling_temperature is 3, a setting of Pooling that heed does not "
      "know");
  refused(
      module({{"query_length", 16}}),
      "sentence_bert_config.json: query_length is 16, which heed applies to models with a vector "
      "for each token alone");
  refused({{"config_sentence_transformers.json", {{"truncate_dim", 0}}}},
          "config_sentence_transformers.json: truncate_dim is 0");
  refused(
      {{"2_Normalize/config.json",
        {{"module_input_name", "token_embeddings"}, {"module_output_name", "token_embeddings"}}}},
      "modules.json: the module Normalize reads token_embeddings, which are of no effect after "
      "Pooling");
  refused({{"tokenizer_config.json", {{"truncation_side", "middle"}}}},
          "tokenizer_config.json: truncation_side is \"middle\"");
}

TEST(SettingsOfEncoders, GiveWayToTheLimitThatACallerSets) {
  const FolderWith folder("embed-bert", {{"tokenizer_config.json", {{"model_max_length", 7}}}});
  const Model limited = Model::load(folder.path()), whole = Model::load(kEncoders / "embed-bert");
  const std::string text = texts_in(folder.path())[3];
  EXPECT_NE(limited.embed(text), whole.embed(text));
  EXPECT_EQ(limited.embed(text, {.max_seq_length = 48}), whole.embed(text));
  expect_error([&] { limited.embed(text, {.max_seq_length = 49}); }, "max_seq_length is 49");
}

}  // namespace
}  // namespace heed
