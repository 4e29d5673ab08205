// The routes of classifiers answer what Model::classify() computes.
#include "heed/base/file.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

std::string many_words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i % 2 == 0 ? " the" : " sea";
  return text;
}

TEST(ClassifyRoute, EqualsClassifyInTheOrderOfLabels) {
  const Model model = RunningServer::shared().model("classifier");
  const std::vector<std::string> texts{"the old sea", "a ship"};
  const Json answer = posted("/classify", {{"model", "classifier"}, {"input", texts}});
  EXPECT_EQ(model.labels(), (std::vector<std::string>{"bad", "fair", "good"}));
  ASSERT_EQ(answer["data"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const std::vector<LabelScore> expected = model.classify(texts[i]);
    EXPECT_EQ(answer["data"][i]["index"], i);
    EXPECT_EQ(answer["data"][i]["label"], expected.front().label);
    EXPECT_EQ(answer["data"][i]["num_classes"], 3);
    for (size_t label = 0; label < 3; ++label)
      for (const LabelScore& one : expected)
        if (one.label == model.labels()[label]) {
          EXPECT_EQ(answer["data"][i]["probs"][label].get<double>(), one.score);
        }
  }
  EXPECT_EQ(answer["usage"]["total_tokens"],
            model.tokenize(texts[0]).size() + model.tokenize(texts[1]).size());
}

TEST(ClassifyRoute, ClassifiesManyTexts) {
  const Model model = RunningServer::shared().model("classifier");
  std::vector<std::string> texts;
  std::vector<ClassifyInput> inputs;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(many_words(i % 10 + 1));
    inputs.emplace_back(texts.back());
  }
  const auto expected = model.classify_batch(inputs);
  const Json answer = posted("/classify", {{"model", "classifier"}, {"input", texts}});
  ASSERT_EQ(answer["data"].size(), 300u);
  for (size_t i = 0; i < 300; ++i)
    EXPECT_EQ(answer["data"][i]["label"], expected[i].front().label) << i;
}

TEST(ClassifyRoute, HasTeisForm) {
  const Model model = RunningServer::shared().model("classifier");
  const auto in_form = [](const std::vector<LabelScore>& labels) {
    Json list = Json::array();
    for (const LabelScore& one : labels)
      list.push_back({{"score", one.score}, {"label", one.label}});
    return list;
  };
  const Json text = in_form(model.classify(std::string("the old sea"))),
             pair = in_form(model.classify(TextPair{"the old sea", "a ship"}));
  const auto predicted = [](const Json& inputs) {
    return posted("/predict", {{"model", "classifier"}, {"inputs", inputs}});
  };
  EXPECT_EQ(predicted("the old sea"), text);
  EXPECT_EQ(predicted({"the old sea", "a ship"}), pair);
  const Json batch = {Json::array({"the old sea"}), {"the old sea", "a ship"}};
  EXPECT_EQ(predicted(batch), Json::array({text, pair}));
  for (const Json& inputs :
       {Json({"a", "b", "c"}), Json({{"a", "b", "c"}}), Json(1), Json::array()})
    EXPECT_EQ(post("/predict", Json{{"model", "classifier"}, {"inputs", inputs}}).status, 400)
        << inputs;
  EXPECT_EQ(
      post("/predict", Json{{"model", "classifier"}, {"inputs", "a"}, {"raw_scores", true}}).status,
      400);
}

TEST(ClassifyRoute, CutsOnlyWhatItIsToldTo) {
  const Model model = RunningServer::shared().model("classifier");
  for (const int count : {100, 20'000}) {
    const Json request = {{"model", "classifier"}, {"input", {"a", many_words(count)}}};
    EXPECT_EQ(refused("/classify", request, "input[1]")["code"], "context_length_exceeded");
    for (const Json& truncate : {Json{{"truncate", true}}, Json{{"truncate_prompt_tokens", -1}}}) {
      Json cut = request;
      cut.update(truncate);
      const Json answer = posted("/classify", cut);
      EXPECT_EQ(answer["data"][1]["label"], model.classify(many_words(count)).front().label);
      EXPECT_EQ(answer["usage"]["total_tokens"],
                std::ssize(model.tokenize("a")) + model.max_classified_tokens());
    }
  }
}

TEST(ClassifyRoute, RefusesWhatItDoesNotDo) {
  refused_each("/classify", {{"model", "classifier"}, {"input", "a"}},
               {{"input", Json::array()},
                {"input", {1, 2}},
                {"use_activation", false},
                {"truncate_prompt_tokens", 7}});
  refused("/classify", {{"model", "encoder"}, {"input", "a"}}, "model");
}

TEST(TeiRoutes, SayWhatAModelIs) {
  const Json embedder = get("/info?model=encoder").json();
  const Model model = RunningServer::shared().model("encoder");
  EXPECT_EQ(embedder["model_id"], "encoder");
  EXPECT_EQ(embedder["max_input_length"], model.max_embedded_tokens());
  EXPECT_EQ(embedder["model_type"]["embedding"]["pooling"], "mean");
  const Json classifier = get("/info?model=classifier").json();
  EXPECT_EQ(classifier["model_type"]["classifier"]["id2label"]["2"], "good");
  EXPECT_EQ(classifier["model_type"]["classifier"]["label2id"]["bad"], 0);
  EXPECT_TRUE(get("/info?model=reranker").json()["model_type"].contains("reranker"));
  const Answer none = get("/info?model=none");
  EXPECT_EQ(none.status, 404);
  EXPECT_TRUE(none.json().contains("error_type"));
}

TEST(TokenizerInfoRoute, HasTheSettingsAndTheTemplate) {
  const Json info = get("/tokenizer_info?model=chat").json();
  EXPECT_TRUE(info["tokenizer_class"].is_string()) << info;
  EXPECT_NE(info["chat_template"].get<std::string>().find("add_generation_prompt"),
            std::string::npos);
  const Json settings =
      Json::parse(read_file(RunningServer::golden("encoders/classify/tokenizer_config.json")));
  const Json found = get("/tokenizer_info?model=classifier").json();
  for (const auto& [key, value] : settings.items()) EXPECT_EQ(found[key], value) << key;
  EXPECT_EQ(get("/tokenizer_info?model=en-de").status, 400);
}

}  // namespace
}  // namespace heed::serve
