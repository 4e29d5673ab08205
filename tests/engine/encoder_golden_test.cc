// Embeddings, labels and scores of text, from published kinds of directories, compared with
// sentence-transformers and transformers' pipelines. The expected numbers come from
// tests/golden/encoders/make.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/error.h"
#include "heed/model.h"
#include "heed/model_tasks.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path kGolden = fs::path(HEED_SOURCE_DIR) / "tests/golden/encoders";

Json expected(const std::string& name) {
  return Json::parse(read_file(kGolden / name / "expected.json"));
}

fs::path gguf_file(const std::string& name) {
  return kGolden.parent_path() / "gguf_models" / (name + ".gguf");
}

std::vector<std::string> texts_of(const Json& json) {
  return json.at("texts").get<std::vector<std::string>>();
}

/// A copy of a golden folder, with members of its config.json replaced.
class ChangedCopy : public TemporaryDirectory {
 public:
  ChangedCopy(const std::string& name, const Json& changes) {
    fs::copy(kGolden / name, path(), fs::copy_options::recursive);
    Json config = Json::parse(read_file(path() / "config.json"));
    config.update(changes);
    write_quickly(path() / "config.json", config.dump());
  }
};

class Embeddings : public ::testing::TestWithParam<const char*> {};

void expect_embeddings(const Model& model, const Json& json, const EmbedOptions& options = {}) {
  const std::vector<std::string> texts = texts_of(json);
  const auto found = model.embed_batch(texts, options);
  ASSERT_EQ(found.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto reference = json.at("embeddings")[i].get<std::vector<float>>();
    ASSERT_EQ(found[i].size(), reference.size());
    for (size_t c = 0; c < reference.size(); ++c)
      EXPECT_NEAR(found[i][c], reference[c], 1e-4) << texts[i];
  }
}

TEST_P(Embeddings, EqualThoseOfSentenceTransformers) {
  expect_embeddings(Model::load(kGolden / GetParam()), expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Families, Embeddings,
                         ::testing::Values("embed-bert", "embed-mpnet", "embed-nomic-bert",
                                           "embed-modernbert", "embed-roberta", "embed-xlm-roberta",
                                           "embed-electra", "embed-albert", "embed-deberta-v2"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// The files have the tokenizer and the pooling, but do not say that vectors are scaled.
TEST(GgufEmbeddings, EqualThoseOfSentenceTransformers) {
  for (const char* name : {"embed-bert", "embed-nomic-bert", "embed-modernbert", "embed-roberta",
                           "embed-xlm-roberta"}) {
    SCOPED_TRACE(name);
    const fs::path file = gguf_file(name);
    const bool normalize = fs::exists(kGolden / name / "2_Normalize");
    expect_embeddings(Model::load(file), expected(name), {.normalize = normalize});
  }
}

TEST(Classification, ScoresOfTextsAndPairsEqualThePipelinesForEveryProblem) {
  const Json json = expected("classify");
  std::vector<ClassifyInput> inputs;
  for (const std::string& text : texts_of(json)) inputs.emplace_back(text);
  for (const Json& pair : json.at("pairs")) inputs.emplace_back(TextPair{pair[0], pair[1]});
  for (const auto& [problem, scores] : json.at("scores").items()) {
    const ChangedCopy folder("classify", {{"problem_type", problem}});
    const auto found = Model::load(folder.path()).classify_batch(inputs);
    ASSERT_EQ(found.size(), scores.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].size(), 3u);
      EXPECT_GE(found[i][0].score, found[i][1].score);
      EXPECT_GE(found[i][1].score, found[i][2].score);
      for (const LabelScore& label : found[i]) {
        const auto place = std::ranges::find(json.at("labels"), Json(label.label));
        const auto index = static_cast<size_t>(place - json.at("labels").begin());
        EXPECT_NEAR(label.score, scores[i][index].get<double>(), 1e-4) << problem << " " << i;
      }
    }
  }
}

TEST(Classification, AQuantisedModelGivesNearlyTheSameScores) {
  const Model exact = Model::load(kGolden / "classify");
  const Model quantised = Model::load(kGolden / "classify", {.weights = WeightType::q8_0});
  for (const std::string& text : texts_of(expected("classify"))) {
    const auto a = exact.classify(text), b = quantised.classify(text);
    for (const LabelScore& label : a) {
      const auto same = std::ranges::find(b, label.label, &LabelScore::label);
      EXPECT_NEAR(label.score, same->score, 0.02) << text;
    }
  }
}

TEST(Reranking, ScoresEqualThoseOfACrossEncoderAndAreSorted) {
  const Json json = expected("rerank");
  const std::vector<std::string> texts = texts_of(json);
  const Json identity{{"activation_fn", "torch.nn.modules.linear.Identity"}};
  for (const auto& [name, changes] :
       {std::pair{"sigmoid", Json::object()},
        {"identity", Json{{"sentence_transformers", identity}}},
        {"identity", Json{{"sbert_ce_default_activation_function", identity["activation_fn"]}}}}) {
    const ChangedCopy folder("rerank", changes);
    const auto found = Model::load(folder.path()).rerank(json.at("query"), texts);
    ASSERT_EQ(found.size(), texts.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const auto document = static_cast<size_t>(found[i].index);
      EXPECT_NEAR(found[i].score, json.at(name)[document].get<double>(), 1e-4) << name;
      if (i > 0) {
        EXPECT_GE(found[i - 1].score, found[i].score);
      }
    }
  }
}

TEST(Reranking, ScoresOfADebertaEqualThoseOfACrossEncoder) {
  const Json json = expected("rerank-deberta-v2");
  const std::vector<std::string> texts = texts_of(json);
  for (const auto& [index, score] :
       Model::load(kGolden / "rerank-deberta-v2").rerank(json.at("query"), texts))
    EXPECT_NEAR(score, json.at("sigmoid")[static_cast<size_t>(index)].get<double>(), 1e-5);
}

TEST(ModelsWithATokenizerOfTheirClass, GiveNoWarnings) {
  for (const char* name :
       {"embed-electra", "embed-albert", "embed-deberta-v2", "rerank-deberta-v2", "rerank-qwen3"})
    EXPECT_EQ(Model::load(kGolden / name).warnings(), std::vector<std::string>()) << name;
}

TEST(DebertaEmbeddings, AreNotComputedOnAGpu) {
  try {
    Model::load(kGolden / "embed-deberta-v2", {.device = "gpu"});
    ADD_FAILURE() << "was loaded";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "device is \"gpu\", expected cpu or auto: disentangled attention (DeBERTa) "
                 "computes on the CPU alone");
  }
}

void expect_reranking(const fs::path& folder, const Json& json, const char* name) {
  const auto documents = json.at("documents").get<std::vector<std::string>>();
  const Model model = Model::load(folder);
  EXPECT_TRUE(model.tasks().rerank);
  const std::vector<RankedDocument> ranked = model.rerank(json.at("query"), documents);
  ASSERT_EQ(ranked.size(), documents.size());
  for (const auto& [index, score] : ranked)
    EXPECT_NEAR(score, json.at(name)[static_cast<size_t>(index)].get<double>(), 1e-5) << name;
}

TEST(Reranking, ALanguageModelThatAnswersYesOrNoScoresAsACrossEncoder) {
  const Json json = expected("rerank-qwen3");
  expect_reranking(kGolden / "rerank-qwen3", json, "scores");
  const ChangedCopy folder("rerank-qwen3", Json::object());
  const fs::path settings = folder.path() / "config_sentence_transformers.json";
  Json own = Json::parse(read_file(settings));
  own["activation_fn"] = "torch.nn.modules.linear.Identity";
  write_quickly(settings, own.dump());
  expect_reranking(folder.path(), json, "identity");
  own.update({{"prompts", {{"web", "Does it answer?"}}}, {"default_prompt_name", "web"}});
  write_quickly(settings, own.dump());
  expect_reranking(folder.path(), json, "prompted");
}

/// A Qwen3-Reranker as its authors publish it, in a folder of this name.
class PlainQwen3Reranker : public TemporaryDirectory {
 public:
  explicit PlainQwen3Reranker(const std::string& name) : folder_(path() / name) {
    fs::create_directory(folder_);
    for (const char* file : {"model.safetensors", "generation_config.json"})
      fs::copy(kGolden / "rerank-qwen3" / file, folder_);
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"})
      fs::copy(kGolden / "qwen3-reranker" / file, folder_);
    Json config = Json::parse(read_file(kGolden / "rerank-qwen3/config.json"));
    config["max_position_embeddings"] = 600;
    write_quickly(folder_ / "config.json", config.dump());
  }
  const fs::path& folder() const { return folder_; }

 private:
  const fs::path folder_;
};

TEST(Reranking, APlainQwen3RerankerScoresAsItsModelCardSays) {
  const Json json = expected("qwen3-reranker");
  const PlainQwen3Reranker copy("Qwen3-Reranker-0.6B");
  expect_reranking(copy.folder(), json, "scores");
  const Model model = Model::load(copy.folder());
  EXPECT_EQ(model.warnings(), std::vector<std::string>());
  EXPECT_TRUE(model.tasks().generate);
  const auto documents = json.at("documents").get<std::vector<std::string>>();
  const auto scores = model.document_scores(json.at("query"), documents,
                                            {.prompt = json.at("instruction").get<std::string>()});
  for (size_t i = 0; i < documents.size(); ++i) {
    EXPECT_NEAR(scores[i], json.at("instructed")[i].get<double>(), 1e-5) << documents[i];
    EXPECT_EQ(model.count_tokens_to_rerank(json.at("query"), documents[i]), json.at("tokens")[i]);
  }
  // A document cannot end its turn.
  EXPECT_GT(model.count_tokens_to_rerank("a", "<|im_end|>"),
            model.count_tokens_to_rerank("a", "b") + 3);
  const PlainQwen3Reranker other("Qwen3-0.6B");
  EXPECT_FALSE(Model::load(other.folder()).tasks().rerank);
}

TEST(Reranking, APromptStandsBeforeTheQuery) {
  const Model model = Model::load(kGolden / "rerank");
  const std::vector<std::string> documents{"The kitten lies by the fire", "taxes"};
  const ClassifyOptions options{.prompt = "where is the "};
  EXPECT_EQ(model.document_scores("cat", documents, options),
            model.document_scores("where is the cat", documents));
  EXPECT_THROW(model.classify("cat", options), InputError);
  const Json json = expected("rerank-qwen3");
  const auto logits =
      Model::load(kGolden / "rerank-qwen3")
          .document_logits(json.at("query"), json.at("documents"), {.prompt = "Does it answer?"});
  for (size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(logits[i], json.at("prompted")[i].get<double>(), 1e-5);
}

TEST(Reranking, SettingsOfAnAnsweringModelThatHeedDoesNotApplyAreRefused) {
  const auto message = [](const char* file, const Json& changes) -> std::string {
    const ChangedCopy folder("rerank-qwen3", Json::object());
    Json own = Json::parse(read_file(folder.path() / file));
    own.update(changes);
    write_quickly(folder.path() / file, own.dump());
    try {
      Model::load(folder.path()).rerank("a", {"b"});
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(std::min(text.size(), folder.path().string().size() + 1));
    }
    return "";
  };
  EXPECT_EQ(message("1_LogitScore/config.json", {{"true_token_id", 100000}}).substr(0, 47),
            "1_LogitScore/config.json: true_token_id is 1000");
  EXPECT_EQ(
      message("1_LogitScore/config.json", {{"module_input_name", "states"}}),
      "1_LogitScore/config.json: module_input_name is \"states\", expected \"causal_logits\"");
  EXPECT_EQ(message("sentence_bert_config.json", {{"processing_kwargs", {{"text", {{"a", 1}}}}}}),
            "sentence_bert_config.json: processing_kwargs.text is {\"a\":1}, which heed does not "
            "support");
  const Model model = Model::load(kGolden / "rerank-qwen3");
  const std::string text(2000, 'a');
  EXPECT_THROW(model.rerank("a", {text}), InputError);
  EXPECT_THROW(model.rerank("a", {"\xff"}), InputError);
  EXPECT_GT(model.count_tokens_to_rerank("a", "b"), 5);
  EXPECT_EQ(model.max_classified_tokens(), 190);
}

TEST(Reranking, ReadsTheActivationOfConfigSentenceTransformersJson) {
  const Json json = expected("rerank");
  const ChangedCopy folder("rerank", Json::object());
  write_quickly(folder / "config_sentence_transformers.json",
                R"({"activation_fn": "torch.nn.modules.linear.Identity"})");
  const auto found = Model::load(folder.path()).rerank(json.at("query"), {texts_of(json)[0]});
  EXPECT_NEAR(found[0].score, json.at("identity")[0].get<double>(), 1e-4);
}

/// llama.cpp's GELU reads a table of f16.
constexpr double kLlamaCppError = 2e-3;

TEST(GgufReranking, ScoresEqualLlamaCppsLogitsAndThoseOfTheCrossEncoder) {
  const Json scores = Json::parse(read_file(gguf_file("rerank").replace_filename("scores.json")));
  const Json cross_encoder = expected("rerank");
  const std::string query = scores.at("query");
  const Model model = Model::load(gguf_file("rerank"));
  std::vector<std::string> texts;
  for (const Json& pair : scores.at("rerank")) texts.push_back(pair.at("text"));
  ASSERT_FALSE(texts.empty());
  for (const auto& [index, score] : model.rerank(query, texts)) {
    const Json& pair = scores.at("rerank")[static_cast<size_t>(index)];
    EXPECT_NEAR(score, pair.at("logits")[0].get<double>(), kLlamaCppError);
    EXPECT_NEAR(score, cross_encoder.at("identity")[static_cast<size_t>(index)].get<double>(),
                1e-4);
  }
}

/// The converter leaves out BERT's pooler, and the file says which labels there are.
TEST(GgufClassification, ScoresEqualLlamaCpps) {
  const Json scores = Json::parse(read_file(gguf_file("rerank").replace_filename("scores.json")));
  const Json labels = expected("classify").at("labels");
  const Model model = Model::load(gguf_file("classify"));
  for (const Json& text : scores.at("classify")) {
    const auto logits = text.at("logits").get<std::vector<double>>();
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    for (const LabelScore& label : model.classify(text.at("text").get<std::string>())) {
      const auto place =
          static_cast<size_t>(std::ranges::find(labels, Json(label.label)) - labels.begin());
      ASSERT_LT(place, logits.size());
      EXPECT_NEAR(label.score, std::exp(logits[place]) / sum, kLlamaCppError);
    }
  }
}

TEST(TokenClassification, EntitiesEqualThePipelines) {
  const Json json = expected("ner");
  const auto found = Model::load(kGolden / "ner").label_tokens_batch(texts_of(json));
  for (size_t i = 0; i < found.size(); ++i) {
    const Json& reference = json.at("entities")[i];
    ASSERT_EQ(found[i].entities.size(), reference.size()) << i;
    for (size_t e = 0; e < reference.size(); ++e) {
      const Entity& entity = found[i].entities[e];
      EXPECT_EQ(entity.label, reference[e].at("label"));
      EXPECT_EQ(entity.text, reference[e].at("text"));
      EXPECT_EQ(entity.start, reference[e].at("start"));
      EXPECT_EQ(entity.end, reference[e].at("end"));
      EXPECT_NEAR(entity.score, reference[e].at("score").get<double>(), 1e-4);
      EXPECT_LT(entity.first_token, entity.end_token);
    }
  }
}

TEST(Classification, AModelOfAnotherKindIsRefusedByName) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Model texts = Model::load(kGolden / "classify"), tokens = Model::load(kGolden / "ner"),
              bare = Model::load(kGolden / "embed-mpnet");
  EXPECT_EQ(message([&] { tokens.classify("a"); }),
            (kGolden / "ner").string() +
                " cannot classify texts, expected a model for the classification of texts (its "
                "config.json names the class ForSequenceClassification); it can embed, label "
                "tokens, show attention");
  EXPECT_NE(message([&] { bare.classify("a"); }), "");
  EXPECT_NE(message([&] { texts.label_tokens("a"); }), "");
  EXPECT_NE(message([&] {
              texts.rerank("a", {"b"});
            }).find("cannot rerank, expected a cross-encoder (a classifier with one label)"),
            std::string::npos);
  EXPECT_EQ(message([&] { texts.classify("a", {.max_seq_length = 49}); }),
            "max_seq_length is 49, expected 1 to 48: the model's context length");
}

}  // namespace
}  // namespace heed
