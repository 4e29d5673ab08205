// heed's own routes answer what Model computes, to the last bit.
#include <algorithm>

#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

void expect_candidates(const Json& found, const std::vector<Candidate>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i]["text"], expected[i].text);
    EXPECT_EQ(found[i]["score"].get<double>(), expected[i].hypothesis.score);
    EXPECT_EQ(found[i]["log_probability"].get<double>(), expected[i].hypothesis.log_probability);
  }
}

TEST(TranslateRoute, EqualsTranslate) {
  const Model model = RunningServer::shared().model("en-de");
  const std::vector<std::string> texts{"the sea", "", "the old ship went out", "a"};
  const Json answer = posted("/v1/translate", {{"model", "en-de"}, {"text", texts}, {"n_best", 3}});
  TranslateOptions options;
  options.search.n_best = 3;
  options.search.scores = true;
  const std::vector<Translation> expected = model.translate_batch(texts, options);
  ASSERT_EQ(answer["translations"].size(), texts.size());
  int64_t tokens = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Json& found = answer["translations"][i];
    EXPECT_EQ(found["index"], i);
    EXPECT_EQ(found["text"], expected[i].text());
    expect_candidates(found["candidates"], expected[i].candidates);
    if (!texts[i].empty()) tokens += std::ssize(expected[i].source);
  }
  EXPECT_EQ(answer["usage"]["prompt_tokens"], tokens);
}

TEST(TranslateRoute, AlignsWordsAndTranslatesLineByLine) {
  const Model model = RunningServer::shared().model("en-de");
  size_t aligned = 0;
  for (const char* text : {"the old ship", "out in the sea", "a", "went out"}) {
    TranslateOptions options{.alignments = true};
    options.search.n_best = 4;
    const Json request = {{"model", "en-de"}, {"text", text}, {"alignments", true}, {"n_best", 4}};
    const Json found = posted("/v1/translate", request)["translations"][0]["candidates"];
    const std::vector<Candidate> expected = model.translate(text, options).candidates;
    expect_candidates(found, expected);
    for (size_t i = 0; i < expected.size(); ++i) {
      Json pairs = Json::array();
      for (const AlignedWords& pair : expected[i].alignment)
        pairs.push_back({pair.source, pair.target});
      EXPECT_EQ(found[i]["alignment"], pairs);
      aligned += pairs.size();
    }
  }
  EXPECT_GT(aligned, 0u);

  const Json lines =
      posted("/v1/translate", {{"model", "en-de"}, {"text", "the sea\n\nthe ship\n"}});
  EXPECT_EQ(lines["translations"][0]["text"],
            model.translate("the sea").text() + "\n\n" + model.translate("the ship").text() + "\n");
  const Json windows = posted("/v1/translate", {{"model", "en-de"}, {"text", "the sea\r\na\r\n"}});
  EXPECT_EQ(windows["translations"][0]["text"],
            model.translate("the sea").text() + "\r\n" + model.translate("a").text() + "\r\n");
}

TEST(TranslateRoute, TranslatesDocuments) {
  const Model model = RunningServer::shared().model("en-de");
  const std::string html = "<p>The <b>old</b> ship. In the sea!</p><p translate=\"no\">the</p>";
  const DocumentTranslation expected =
      model.translate_document(html, {.translate = {.alignments = true}, .format = "html"});
  const Json answer = posted("/v1/translate", {{"model", "en-de"},
                                               {"text", {html, "The sea. A ship."}},
                                               {"format", "html"},
                                               {"alignments", true}});
  const Json& found = answer["translations"][0];
  EXPECT_EQ(found["text"], expected.text);
  ASSERT_EQ(found["sentences"].size(), expected.sentences.size());
  for (size_t i = 0; i < expected.sentences.size(); ++i) {
    const DocumentSentence& sentence = expected.sentences[i];
    EXPECT_EQ(found["sentences"][i]["source"], sentence.source);
    EXPECT_EQ(found["sentences"][i]["paragraph"], sentence.paragraph);
    expect_candidates(found["sentences"][i]["candidates"], sentence.translation.candidates);
  }
  EXPECT_EQ(answer["translations"][1]["sentences"].size(), 2u);
  EXPECT_EQ(
      posted("/v1/translate",
             {{"model", "en-de"}, {"text", ""}, {"document", true}})["translations"][0]["text"],
      "");
  const std::string text = "The old ship. In the sea!\n\n A ship \r\n";
  EXPECT_EQ(
      posted("/v1/translate",
             {{"model", "en-de"}, {"text", text}, {"document", true}})["translations"][0]["text"],
      model.translate_document(text).text);
  refused_each("/v1/translate", {{"model", "en-de"}, {"text", "the"}},
               {{"format", "rtf"}, {"document", "yes"}, {"keep_numbers", true}});
  posted("/v1/translate", {{"model", "en-de"}, {"text", "the"}, {"keep_numbers", false}});
  refused("/v1/translate",
          {{"model", "en-de"}, {"text", "the"}, {"document", true}, {"max_sentence_tokens", 5000}},
          "max_sentence_tokens");
  refused("/v1/translate", {{"model", "en-de"}, {"text", "1\nno time\n"}, {"format", "srt"}},
          "text");
}

TEST(TranslateRoute, TakesAGlossary) {
  const Model model = RunningServer::shared().model("en-de");
  const Json request = {{"model", "en-de"},
                        {"text", "the old ship\nin the sea"},
                        {"glossary",
                         {{{"source", "ship"}, {"target", "sea"}},
                          {{"source", "OLD"}, {"target", {"went", "out"}}, {"match_case", false}}}},
                        {"do_not_translate", {"in"}}};
  TranslateOptions options{.glossary = {{"ship", {"sea"}}, {"OLD", {"went", "out"}}},
                           .do_not_translate = {"in"}};
  const auto expected = model.translate_batch({"the old ship", "in the sea"}, options);
  EXPECT_EQ(posted("/v1/translate", request)["translations"][0]["text"],
            expected[0].text() + "\n" + expected[1].text());
  EXPECT_NE(expected[0].text(), model.translate("the old ship").text());
}

TEST(TranslateRoute, TakesTheLanguagesOfAModel) {
  const Json request = {{"model", "nllb"},
                        {"text", "the sea"},
                        {"source_language", "eng_Latn"},
                        {"target_language", "deu_Latn"}};
  const Model model = RunningServer::shared().model("nllb");
  TranslateOptions options{.source_language = "eng_Latn", .target_language = "deu_Latn"};
  options.search.scores = true;
  expect_candidates(posted("/v1/translate", request)["translations"][0]["candidates"],
                    model.translate("the sea", options).candidates);
  Json unknown = request;
  unknown["target_language"] = "tlh";
  EXPECT_EQ(post("/v1/translate", unknown).status, 400);
}

// The files of such a model name no languages, so that it has no codes to choose by.
TEST(TranslateRoute, TakesTheLanguagesThatAreListedForAConfiguredModel) {
  const Json listed = Json::parse(get("/v1/models/en-de").body);
  EXPECT_EQ(listed["source_languages"], Json({"en"}));
  EXPECT_EQ(listed["languages"], Json({"de"}));
  Json request = {{"model", "en-de"}, {"text", "the sea"}};
  const Json expected = posted("/v1/translate", request), map = posted("/v1/attention", request);
  request["source_language"] = listed["source_languages"][0];
  request["target_language"] = listed["languages"][0];
  EXPECT_EQ(posted("/v1/translate", request), expected);
  EXPECT_EQ(posted("/v1/attention", request), map);
  request["source_language"] = "de";
  EXPECT_EQ(post("/v1/translate", request).status, 400);
  EXPECT_EQ(post("/v1/attention", request).status, 400);
}

TEST(TranslateRoute, RefusesWhatIsTooLongOrWrong) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "sea ";
  const Json error = refused("/v1/translate", {{"model", "en-de"}, {"text", text}}, "text");
  EXPECT_EQ(error["code"], "context_length_exceeded");
  refused_each("/v1/translate", {{"model", "en-de"}, {"text", "the"}},
               {{"text", 1},
                {"num_beams", 0},
                {"n_best", 5},
                {"length_penalty", "a"},
                {"max_new_tokens", -1},
                {"alignments", 1},
                {"glossary", "ship"},
                {"glossary", {{{"source", "ship"}}}},
                {"glossary", {{{"source", "ship"}, {"target", Json::array()}}}},
                {"glossary", {{{"source", "ship"}, {"target", "\u65b9"}}}},
                {"do_not_translate", ""},
                {"source_language", 2},
                {"target_language", true},
                {"num_beam", 2}});
  refused("/v1/translate", {{"model", "en-de"}}, "text");
  refused("/v1/translate", {{"model", "lm"}, {"text", "the"}}, "model");
}

TEST(LibreTranslate, TranslatesJsonAndForms) {
  const std::string expected = RunningServer::shared().model("en-de").translate("the sea").text();
  const Json request = {{"q", "the sea"}, {"source", "en"}, {"target", "de"}, {"api_key", "k"}};
  EXPECT_EQ(posted("/translate", request), (Json{{"translatedText", expected}}));
  const Answer form = post("/translate", std::string("q=the+sea&source=en&target=de&format=text"),
                           {{"Content-Type", "application/x-www-form-urlencoded"}});
  EXPECT_EQ(form.json()["translatedText"], expected) << form.body;
  const Answer invalid = post("/translate", std::string("q=%FF&source=en&target=de"),
                              {{"Content-Type", "application/x-www-form-urlencoded"}});
  EXPECT_EQ(invalid.status, 400);
  EXPECT_EQ(invalid.json()["error"], "q is not valid UTF-8: byte 1 is 0xFF");
  const Json batch =
      posted("/translate",
             {{"q", {"the sea", "a"}}, {"source", "auto"}, {"target", "de"}, {"alternatives", 2}});
  EXPECT_EQ(batch["translatedText"].size(), 2u);
  EXPECT_EQ(batch["translatedText"][0], expected);
  EXPECT_EQ(batch["alternatives"][0].size(), 2u);
}

TEST(LibreTranslate, ReportsErrorsInItsForm) {
  const auto error = [](const Json& request) {
    const Answer answer = post("/translate", request);
    EXPECT_EQ(answer.status, 400) << answer.body;
    return answer.json()["error"].get<std::string>();
  };
  EXPECT_NE(error({{"q", "a"}, {"source", "en"}, {"target", "zz"}}).find("zz"), std::string::npos);
  EXPECT_NE(error({{"q", "a"}, {"target", "de"}}).find("source"), std::string::npos);
  EXPECT_NE(error({{"source", "en"}, {"target", "de"}}).find("q"), std::string::npos);
}

TEST(LibreTranslate, ListsLanguages) {
  const Json list = get("/languages").json();
  const auto english =
      std::ranges::find_if(list, [](const Json& one) { return one["code"] == "en"; });
  ASSERT_NE(english, list.end());
  EXPECT_TRUE((*english)["name"].is_string());
  EXPECT_NE(std::ranges::find((*english)["targets"], Json("de")), (*english)["targets"].end());
}

TEST(ScoreRoute, EqualsScore) {
  const Score text = RunningServer::shared().model("lm").score("the old sea");
  const Json found = posted("/v1/score", {{"model", "lm"}, {"text", "the old sea"}});
  ASSERT_EQ(found["tokens"].size(), text.tokens.size());
  EXPECT_TRUE(found["tokens"][0]["log_probability"].is_null());
  for (size_t i = 1; i < text.tokens.size(); ++i)
    EXPECT_EQ(found["tokens"][i]["log_probability"].get<double>(), text.log_probabilities[i - 1]);
  EXPECT_EQ(found["log_probability"].get<double>(), text.log_probability());
  EXPECT_EQ(found["perplexity"].get<double>(), text.perplexity());

  const Score pair = RunningServer::shared().model("t5").score_pair("the sea", "the ship");
  const Json paired =
      posted("/v1/score", {{"model", "t5"}, {"source", "the sea"}, {"target", "the ship"}});
  EXPECT_EQ(paired["tokens"].size(), pair.tokens.size());
  EXPECT_EQ(paired["log_probability"].get<double>(), pair.log_probability());
  refused("/v1/score", {{"model", "t5"}, {"source", "the sea"}}, "target");
  refused("/v1/score", {{"model", "lm"}, {"text", 3}}, "text");
  refused("/v1/score", {{"model", "lm"}, {"text", "a"}, {"target", 3}}, "target");
  refused("/v1/score", {{"model", "t5"}, {"source", "a"}, {"target", "b"}, {"text", "c"}}, "text");
}

TEST(FillRoute, EqualsFill) {
  const Model model = RunningServer::shared().model("masked");
  const FilledText expected = model.fill("the [MASK] sea [MASK]", 3);
  const Json found =
      posted("/v1/fill", {{"model", "masked"}, {"text", "the [MASK] sea [MASK]"}, {"top", 3}});
  ASSERT_EQ(found["masks"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found["masks"][i]["position"], expected.masks[i].position);
    ASSERT_EQ(found["masks"][i]["best"].size(), 3u);
    for (size_t k = 0; k < 3; ++k) {
      const Json& best = found["masks"][i]["best"][k];
      EXPECT_EQ(best["token"], expected.masks[i].best[k].token);
      EXPECT_EQ(best["probability"].get<double>(), expected.masks[i].best[k].probability);
      EXPECT_EQ(best["text"], model.token_text(expected.masks[i].best[k].token));
    }
  }
  refused("/v1/fill", {{"model", "masked"}, {"text", "the [MASK]"}, {"top", 0}}, "top");
}

TEST(TokenizeRoute, GoesThereAndBack) {
  for (const char* name : {"lm", "masked", "en-de"}) {
    const Model model = RunningServer::shared().model(name);
    for (const bool special : {true, false}) {
      const Json found =
          posted("/v1/tokenize", {{"model", name}, {"text", "the old sea"}, {"special", special}});
      const std::vector<int32_t> tokens = model.tokenize("the old sea", special);
      EXPECT_EQ(found["tokens"].get<std::vector<int32_t>>(), tokens);
      EXPECT_EQ(found["count"], tokens.size());
      EXPECT_EQ(found["texts"].size(), tokens.size());
      const Json back = posted("/v1/detokenize",
                               {{"model", name}, {"tokens", tokens}, {"skip_special", special}});
      EXPECT_EQ(back["text"], model.detokenize(tokens, special));
    }
  }
  refused("/v1/detokenize", {{"model", "lm"}, {"tokens", {1, -1}}}, "tokens");
  refused("/v1/detokenize", {{"model", "lm"}, {"tokens", {1u << 31}}}, "tokens");
  refused("/v1/tokenize", {{"model", "lm"}, {"text", "a"}, {"special", 1}}, "special");
}

TEST(AttentionRoute, EqualsAttention) {
  const Model model = RunningServer::shared().model("en-de");
  const AttentionOptions options{.target = "the ship", .kind = AttentionKind::cross, .layer = 1};
  const std::vector<AttentionMap> expected = model.attention("the old sea", options);
  const Json found = posted("/v1/attention", {{"model", "en-de"},
                                              {"text", "the old sea"},
                                              {"target", "the ship"},
                                              {"kind", "cross"},
                                              {"layer", 1}});
  ASSERT_EQ(found["maps"].size(), 1u);
  const Json& map = found["maps"][0];
  EXPECT_EQ(map["queries"], Json(expected[0].queries));
  EXPECT_EQ(map["keys"], Json(expected[0].keys));
  EXPECT_EQ(map["heads"], expected[0].heads);
  size_t n = 0;
  for (const Json& head : map["weights"])
    for (const Json& row : head)
      for (const Json& weight : row)
        EXPECT_NEAR(weight.get<float>(), expected[0].weights.at(n++), 1e-7);
  EXPECT_EQ(n, expected[0].weights.size());
  const Json viewer =
      posted("/v1/attention", {{"model", "lm"}, {"text", "the sea"}, {"format", "viewer"}});
  EXPECT_NE(viewer["html"].get<std::string>().find('<'), std::string::npos);
  refused("/v1/attention", {{"model", "lm"}, {"text", "the sea"}, {"kind", "sideways"}}, "kind");
  refused("/v1/attention", {{"model", "lm"}, {"text", "the sea"}, {"layer", -1}}, "layer");
}

}  // namespace
}  // namespace heed::serve
