// Translations in two steps, where no model has both languages, and confidence.
#include "heed/serve/translation/translation_path.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

using ModelInfo = ModelRegistry::ModelInfo;

ModelInfo translator(const std::string& name, std::vector<std::string> sources,
                     std::vector<std::string> targets) {
  ModelInfo model;
  model.name = name;
  model.tasks = {"translate"};
  model.source_languages = std::move(sources);
  model.languages = std::move(targets);
  return model;
}

std::string path_text(const std::optional<TranslationPath>& path) {
  if (!path) return "none";
  return path->is_direct() ? path->first
                           : fmt::format("{} {} {}", path->first, path->via, path->second);
}

TEST(TranslationPath, IsDirectOrHasOneLanguageBetween) {
  const std::vector<ModelInfo> models{
      translator("de-es", {"de"}, {"es"}), translator("de-en", {"deu_Latn"}, {"eng_Latn"}),
      translator("es-fr", {"es"}, {"fr"}), translator("en-fr", {"en"}, {"fr"}),
      translator("fr-it", {"fr"}, {"it"}), translator("many", {"it", "pt"}, {"pt", "it", "nl"})};
  EXPECT_EQ(path_text(translation_path(models, "de", "en")), "de-en");
  EXPECT_EQ(path_text(translation_path(models, "it", "nl")), "many");
  // English is preferred, though Spanish comes first.
  EXPECT_EQ(path_text(translation_path(models, "de", "fr")), "de-en en en-fr");
  EXPECT_EQ(path_text(translation_path(models, "de", "fr", "es")), "de-es es es-fr");
  EXPECT_EQ(path_text(translation_path(models, "en", "it")), "en-fr fr fr-it");
  EXPECT_EQ(path_text(translation_path(models, "de", "it")), "none");  // three steps
  EXPECT_EQ(path_text(translation_path(models, "de", "de")), "none");
  EXPECT_EQ(path_text(translation_path(models, "it", "nl", "pt")), "many pt many");
  EXPECT_EQ(path_text(translation_path(models, "xx", "fr")), "none");
  std::vector<ModelInfo> others = models;
  for (ModelInfo& model : others) model.tasks = {"generate"};
  EXPECT_EQ(path_text(translation_path(others, "de", "en")), "none");
}

/// de-en and, loaded on first use, en-fr; both are the same small translator.
class TwoSteps : public testing::Test {
 protected:
  TwoSteps() {
    const std::string path = engine::models().translator().string();
    ServerOptions options{.port = 0};
    options.models.push_back(
        {.name = "de-en", .path = path, .source_language = "de", .target_language = "en"});
    options.models.push_back(
        {.name = "en-fr", .path = path, .source_language = "en", .target_language = "fr"});
    options.models.push_back({.name = "lm", .path = engine::models().decoder().string()});
    server_.emplace(options);
    server_->listen();
    server_->load();
  }

  Answer post(const std::string& path, const Json& body) const {
    return HttpClient(server_->port()).request("POST", path, body.dump());
  }
  Json posted(const std::string& path, const Json& body) const {
    const Answer answer = post(path, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json();
  }
  Json get(const std::string& path) const {
    return HttpClient(server_->port()).request("GET", path).json();
  }

  const Model model_ = Model::load(engine::models().translator());
  std::string twice(const std::string& text) const {
    return model_.translate(model_.translate(text).text()).text();
  }

  std::optional<Server> server_;
};

TEST_F(TwoSteps, AreTakenWhereNoModelHasBothLanguages) {
  Json request = {{"text", {"the sea", "a ship\n\nthe old sea"}},
                  {"source_language", "de"},
                  {"target_language", "fr"}};
  const Json found = posted("/v1/translate", request);
  EXPECT_EQ(found["model"], "de-en");
  EXPECT_EQ(found["via"], Json({{"language", "en"}, {"model", "en-fr"}}));
  EXPECT_EQ(found["translations"][0]["text"], twice("the sea"));
  EXPECT_EQ(found["translations"][1]["text"], twice("a ship") + "\n\n" + twice("the old sea"));
  EXPECT_GT(found["usage"]["completion_tokens"], found["usage"]["prompt_tokens"]);
  // The queue is empty again.
  EXPECT_EQ(posted("/v1/translate", request)["translations"], found["translations"]);

  // The language of the text chooses the model, too.
  request["source_language"] = "auto";
  request["text"] = {"Das Wetter ist heute sehr schön, und wir gehen ans Meer."};
  const Json detected = posted("/v1/translate", request);
  EXPECT_EQ(detected["model"], "de-en");
  EXPECT_EQ(detected["detected_language"]["language"], "de");
  request["source_language"] = "de";
  request["text"] = {"the sea", "a ship\n\nthe old sea"};

  request["target_language"] = "en";
  const Json direct = posted("/v1/translate", request);
  EXPECT_FALSE(direct.contains("via"));
  EXPECT_EQ(direct["translations"][0]["text"], model_.translate("the sea").text());
  request["target_language"] = "it";
  EXPECT_EQ(post("/v1/translate", request).status, 400);
}

TEST_F(TwoSteps, HaveAlignmentsWithTheSource) {
  const Json found = posted("/v1/translate", {{"text", "the old sea"},
                                              {"source_language", "de"},
                                              {"target_language", "fr"},
                                              {"alignments", true}});
  TranslateOptions options{.alignments = true};
  options.then = std::make_shared<const Model>(model_);
  const Translation translated = model_.translate("the old sea", options);
  Json expected = Json::array();
  for (const AlignedWords& pair : translated.candidates.front().alignment)
    expected.push_back({pair.source, pair.target});
  EXPECT_EQ(found["translations"][0]["candidates"][0]["alignment"], expected);
}

TEST_F(TwoSteps, AreThoseOfLibreTranslateToo) {
  for (const Json& language : get("/languages")) {
    if (language["code"] == "de") {
      EXPECT_EQ(language["targets"], Json({"en", "fr"}));
    }
    if (language["code"] == "en") {
      EXPECT_EQ(language["targets"], Json({"fr"}));
    }
  }
  Json request = {{"q", {"the sea", "a ship"}}, {"source", "de"}, {"target", "fr"}};
  const Json found = posted("/translate", request);
  ASSERT_EQ(twice("a ship"), "");  // a sentence whose translation is empty keeps its text
  EXPECT_EQ(found["translatedText"], Json({twice("the sea"), "a ship"}));
  EXPECT_EQ(found["via"], "en");
  request["target"] = "en";
  EXPECT_FALSE(posted("/translate", request).contains("via"));
  request = {
      {"q", "<p>the <b>sea</b></p>"}, {"source", "de"}, {"target", "fr"}, {"format", "html"}};
  const std::string html = posted("/translate", request)["translatedText"];
  for (const std::string tag : {"<p>", "<b>", "</b>", "</p>"})
    EXPECT_NE(html.find(tag), html.npos) << html;
}

TEST_F(TwoSteps, MayBeAskedFor) {
  Json request = {
      {"text", "the sea"}, {"source_language", "de"}, {"target_language", "fr"}, {"via", "en"}};
  EXPECT_EQ(posted("/v1/translate", request)["via"]["model"], "en-fr");
  request["via"] = "it";
  EXPECT_EQ(post("/v1/translate", request).status, 400);
  request = {{"text", "the sea"}, {"model", "de-en"}, {"via", "en"}};
  EXPECT_NE(post("/v1/translate", request).body.find("via needs source_language"),
            std::string::npos);
  // A model with all languages takes both steps.
  const Json many = serve::posted("/v1/translate", {{"model", "nllb"},
                                                    {"text", "the sea"},
                                                    {"source_language", "eng_Latn"},
                                                    {"target_language", "fra_Latn"},
                                                    {"via", "de"}});
  EXPECT_EQ(many["via"], Json({{"language", "de"}, {"model", "nllb"}}));
  const Model nllb = RunningServer::shared().model("nllb");
  EXPECT_EQ(
      many["translations"][0]["text"],
      nllb.translate("the sea",
                     {.source_language = "eng_Latn", .target_language = "fra_Latn", .via = "de"})
          .text());
}

TEST_F(TwoSteps, HaveNoConfidence) {
  const Answer answer = post("/v1/translate", {{"text", "the sea"},
                                               {"source_language", "de"},
                                               {"target_language", "fr"},
                                               {"confidence", true}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("no calibration of two steps"), std::string::npos) << answer.body;
}

TEST(Confidence, IsInTheAnswerOfACalibratedModel) {
  const Answer none =
      post("/v1/translate", Json{{"model", "en-de"}, {"text", "the sea"}, {"confidence", true}});
  EXPECT_EQ(none.status, 400);
  EXPECT_NE(none.body.find("no calibration of its confidence"), std::string::npos) << none.body;

  const TemporaryDirectory folder;
  copy_model(engine::models().translator(), folder);
  write_quickly(folder / "confidence.json", R"({"calibrations": [{
    "word": {"own": 1, "sentence": 0, "neighbours": 0, "constant": 0},
    "sentence": {"mean": 1, "constant": 0}}]})");
  ServerOptions options{.port = 0};
  options.models.push_back({.name = "one", .path = folder.path().string()});
  Server server(options);
  server.listen();
  server.load();
  const auto posted = [&](const Json& body) {
    return HttpClient(server.port()).request("POST", "/v1/translate", body.dump()).json();
  };
  const Model model = Model::load(folder.path());
  const Json found = posted({{"text", {"the sea", "the sea\na ship"}}, {"confidence", true}});
  const Candidate sea = model.translate("the sea", {.confidence = true}).candidates.front();
  const Candidate ship = model.translate("a ship", {.confidence = true}).candidates.front();
  const Json one = found["translations"][0]["candidates"][0];
  EXPECT_DOUBLE_EQ(one["confidence"], *sea.confidence);
  ASSERT_EQ(one["words"].size(), sea.words.size());
  for (size_t i = 0; i < sea.words.size(); ++i) {
    EXPECT_EQ(one["words"][i]["text"], sea.words[i].text);
    EXPECT_DOUBLE_EQ(one["words"][i]["confidence"], sea.words[i].confidence);
  }
  // That of two lines is the mean of their words.
  const Json two = found["translations"][1]["candidates"][0];
  EXPECT_EQ(two["words"].size(), sea.words.size() + ship.words.size());
  const auto a = static_cast<double>(sea.words.size()), b = static_cast<double>(ship.words.size());
  EXPECT_NEAR(two["confidence"], (a * *sea.confidence + b * *ship.confidence) / (a + b), 1e-12);
  EXPECT_FALSE(posted({{"text", "the sea"}})["translations"][0]["candidates"][0].contains("words"));
}

}  // namespace
}  // namespace heed::serve
