// /v1/completions answers what Model computes, streamed or not.
#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

TEST(Completions, EqualGenerate) {
  const Model model = RunningServer::shared().model("lm");
  const GenerateOptions options{.max_new_tokens = 8, .top_log_probabilities = 2};
  const std::vector<std::string> prompts{"the old", "sea"};
  const Json answer =
      posted("/v1/completions",
             {{"model", "lm"}, {"prompt", prompts}, {"max_tokens", 8}, {"logprobs", 2}});
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_TRUE(answer["id"].get<std::string>().starts_with("cmpl-"));
  ASSERT_EQ(answer["choices"].size(), 2u);
  int64_t tokens = 0;
  for (size_t i = 0; i < 2; ++i) {
    const Generation expected = model.generate(prompts[i], options);
    const Json& choice = answer["choices"][i];
    EXPECT_EQ(choice["text"], expected.text);
    EXPECT_EQ(choice["finish_reason"], name_of(expected.finish_reason));
    ASSERT_EQ(choice["logprobs"]["token_logprobs"].size(), expected.chosen.size());
    for (size_t k = 0; k < expected.chosen.size(); ++k) {
      EXPECT_EQ(choice["logprobs"]["token_logprobs"][k].get<double>(),
                expected.chosen[k].log_probability);
      for (const TokenLogProbability& one : expected.best[k])
        EXPECT_TRUE(choice["logprobs"]["top_logprobs"][k].contains(model.token_bytes(one.token)));
    }
    tokens += std::ssize(expected.tokens);
  }
  EXPECT_EQ(answer["usage"]["completion_tokens"], tokens);
}

TEST(Completions, SamplesAsNumberedPromptsAndStreamsTheSame) {
  const Model model = RunningServer::shared().model("lm");
  const Json request = {{"model", "lm"},      {"prompt", "the old"}, {"max_tokens", 8},
                        {"temperature", 0.9}, {"seed", 7},           {"n", 3}};
  const GenerateOptions options{.max_new_tokens = 8, .temperature = 0.9f, .seed = 7};
  const std::vector<Generation> expected =
      model.generate_batch({"the old", "the old", "the old"}, options);
  const Json whole = posted("/v1/completions", request);
  std::vector<std::string> texts(3);
  const std::vector<Json> chunks = streamed("/v1/completions", request);
  ASSERT_FALSE(chunks.empty());
  for (const Json& chunk : chunks)
    for (const Json& choice : chunk["choices"])
      texts.at(choice["index"].get<size_t>()) += choice["text"].get<std::string>();
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(whole["choices"][i]["text"], expected[i].text);
    EXPECT_EQ(texts[i], expected[i].text);
  }
  EXPECT_EQ(chunks.back()["usage"], whole["usage"]);
}

TEST(Completions, RefuseALongTextByItsBeginning) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "sea ";
  const Json error = refused("/v1/completions", {{"model", "lm"}, {"prompt", text}}, "prompt");
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_NE(error["message"].get<std::string>().find("more than "), std::string::npos) << error;
}

TEST(Completions, EchoStopAndTokens) {
  const Model model = RunningServer::shared().model("lm");
  const std::vector<int32_t> tokens = model.tokenize("the old");
  const std::string text = model.generate("the old", {.max_new_tokens = 6}).text;
  const Json request = {{"model", "lm"}, {"prompt", tokens}, {"max_tokens", 6}, {"echo", true}};
  EXPECT_EQ(posted("/v1/completions", request)["choices"][0]["text"],
            model.detokenize(tokens, false) + text);
  ASSERT_GT(text.size(), 2u);
  const std::string stop = text.substr(text.size() / 2, 1);
  const Json stopped = posted(
      "/v1/completions",
      {{"model", "lm"}, {"prompt", "the old"}, {"max_tokens", 6}, {"stop", stop}})["choices"][0];
  EXPECT_EQ(stopped["text"], text.substr(0, text.find(stop)));
  EXPECT_EQ(stopped["finish_reason"], "stop");
}

TEST(Completions, LogitBiasDecidesWhatIsGenerated) {
  const Model model = RunningServer::shared().model("lm");
  const std::vector<int32_t> sea = model.tokenize("sea");
  const Json answer = posted("/v1/completions", {{"model", "lm"},
                                                 {"prompt", "the old"},
                                                 {"max_tokens", 3},
                                                 {"logit_bias", {{std::to_string(sea[0]), 100}}}});
  const Generation expected = model.generate(
      "the old", {.max_new_tokens = 3, .logit_bias = {{.token = sea[0], .bias = 100}}});
  EXPECT_EQ(expected.tokens, std::vector<int32_t>(3, sea[0]));
  EXPECT_EQ(answer["choices"][0]["text"], expected.text);
}

TEST(Completions, RefuseWrongFields) {
  const Json request = {{"model", "lm"}, {"prompt", "the"}};
  refused_each("/v1/completions", request, kWrongSampling);
  refused("/v1/completions", {{"model", "lm"}}, "prompt");
  refused("/v1/completions", {{"model", "lm"}, {"prompt", "the"}, {"top_p", -0.5}}, "top_p");
  refused_each("/v1/completions", request, {{"prompt", 5}, {"logprobs", true}, {"echo", "yes"}});
  std::string text;
  for (int i = 0; i < 80; ++i) text += "sea ";
  const Json error = refused("/v1/completions", {{"model", "lm"}, {"prompt", text}}, "prompt");
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_NE(error["message"].get<std::string>().find("64"), std::string::npos);
  refused("/v1/completions", {{"model", "encoder"}, {"prompt", "a"}}, "model");
  const Answer unknown = post("/v1/completions", Json{{"model", "gpt-9"}, {"prompt", "a"}});
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.json()["error"]["code"], "model_not_found");
}

/// The lists of a stream's chunks, one behind the other, and its text.
Json joined_choice(const std::vector<Json>& chunks, size_t index) {
  Json whole = {{"text", ""}, {"logprobs", Json::object()}};
  for (const Json& chunk : chunks)
    for (const Json& choice : chunk["choices"]) {
      if (choice["index"] != index) continue;
      whole["text"] = whole["text"].get<std::string>() + choice["text"].get<std::string>();
      if (!choice["finish_reason"].is_null()) whole["finish_reason"] = choice["finish_reason"];
      if (choice["logprobs"].is_null()) continue;
      for (const auto& [name, list] : choice["logprobs"].items())
        for (const Json& value : list) whole["logprobs"][name].push_back(value);
    }
  return whole;
}

TEST(Completions, ScoreAnEchoedPromptWithoutGenerating) {
  const Model model = RunningServer::shared().model("lm");
  const std::vector<std::string> prompts{"the old sea", "went out"};
  const Json request = {
      {"model", "lm"}, {"prompt", prompts}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 2}};
  const Json answer = posted("/v1/completions", request);
  ASSERT_EQ(answer["choices"].size(), 2u);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 0);
  for (size_t k = 0; k < 2; ++k) {
    const Score score = model.score(prompts[k]);
    const Json& choice = answer["choices"][k];
    const Json& lists = choice["logprobs"];
    EXPECT_EQ(choice["text"], prompts[k]);
    EXPECT_EQ(choice["finish_reason"], "length");
    ASSERT_EQ(lists["token_logprobs"].size(), score.tokens.size());
    for (const char* name : {"tokens", "top_logprobs", "text_offset"})
      EXPECT_EQ(lists[name].size(), score.tokens.size());
    std::string text;
    for (const Json& token : lists["tokens"]) text += token.get<std::string>();
    EXPECT_EQ(text, ' ' + prompts[k]);  // as SentencePiece has it
    EXPECT_TRUE(lists["token_logprobs"][0].is_null());
    EXPECT_TRUE(lists["top_logprobs"][0].is_null());
    for (size_t i = 1; i < score.tokens.size(); ++i) {
      const double chosen = score.log_probabilities[i - 1];
      EXPECT_EQ(lists["token_logprobs"][i].get<double>(), chosen);
      const Json& best = lists["top_logprobs"][i];
      EXPECT_GE(best.size(), 2u);
      EXPECT_LE(best.size(), 3u);
      EXPECT_EQ(best[lists["tokens"][i].get<std::string>()].get<double>(), chosen);
      if (best.size() < 3) continue;
      for (const auto& [name, value] : best.items()) EXPECT_GE(value.get<double>(), chosen) << name;
    }
    const std::vector<Json> chunks = streamed("/v1/completions", request);
    const Json streamed_choice = joined_choice(chunks, k);
    for (const char* name : {"text", "logprobs", "finish_reason"})
      EXPECT_EQ(streamed_choice[name], choice[name]) << name;
  }
}

/// As lm-eval's local-completions asks: the context and its continuation, and one token more, which
/// it leaves out.
TEST(Completions, ScoreAnEchoedPromptAndGenerate) {
  const Model model = RunningServer::shared().model("lm");
  const std::vector<int32_t> tokens = model.tokenize("the old ship went out");
  const Json request = {{"model", "lm"}, {"prompt", {tokens}}, {"max_tokens", 1}, {"logprobs", 1},
                        {"echo", true},  {"temperature", 0},   {"seed", 1234},    {"n", 2}};
  const Json answer = posted("/v1/completions", request);
  const Generation generated = model.generate(tokens, {.max_new_tokens = 1});
  const Score score = model.score("the old ship went out");
  ASSERT_EQ(answer["choices"].size(), 2u);
  for (const Json& choice : answer["choices"]) {
    EXPECT_EQ(choice["text"], model.detokenize(tokens, false) + generated.text);
    const Json& scores = choice["logprobs"]["token_logprobs"];
    ASSERT_EQ(scores.size(), tokens.size() + 1);
    double sum = 0;
    for (size_t i = 1; i < tokens.size(); ++i) sum += scores[i].get<double>();
    EXPECT_EQ(sum, score.log_probability());
  }
  // The token that ends an output counts, too.
  Json ended = request;
  ended["stop_token_ids"] = generated.tokens;
  const Json choice = posted("/v1/completions", ended)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["logprobs"]["token_logprobs"],
            answer["choices"][0]["logprobs"]["token_logprobs"]);
}

TEST(Completions, AlwaysHaveTheChosenTokenAmongTheBest) {
  const Model model = RunningServer::shared().model("lm");
  const std::vector<int32_t> sea = model.tokenize("sea");
  Json request = {{"model", "lm"},
                  {"prompt", "the old"},
                  {"max_tokens", 3},
                  {"logprobs", 0},
                  {"logit_bias", {{std::to_string(sea[0]), 100}}}};
  for (const int top : {0, 1}) {
    request["logprobs"] = top;
    const Json lists = posted("/v1/completions", request)["choices"][0]["logprobs"];
    for (size_t i = 0; i < 3; ++i) {
      const Json& best = lists["top_logprobs"][i];
      EXPECT_LE(best.size(), static_cast<size_t>(top) + 1);
      EXPECT_EQ(best[lists["tokens"][i].get<std::string>()], lists["token_logprobs"][i]);
    }
  }
}

/// The bytes that OpenAI's name of a token stands for.
std::string bytes_of_name(std::string name) {
  if (!name.starts_with("bytes:")) return name;
  std::string bytes;
  for (size_t i = 6; i < name.size(); ++i) {
    if (name.substr(i, 2) == "\\x") {
      bytes += static_cast<char>(std::stoi(name.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      bytes += name[i];
    }
  }
  return bytes;
}

TEST(Completions, TokensAreTheBytesOfTheText) {
  const std::string prompt = " the old \u4e16 sea\u00e9 went";  // \u4e16 is not in the vocabulary
  const Json lists = posted("/v1/completions", {{"model", "bytes"},
                                                {"prompt", prompt},
                                                {"max_tokens", 0},
                                                {"echo", true},
                                                {"logprobs", 20}})["choices"][0]["logprobs"];
  std::string text;
  for (size_t i = 0; i < lists["tokens"].size(); ++i) {
    const std::string bytes = bytes_of_name(lists["tokens"][i]);
    // The place in characters is where the bytes before end: in a character if they are part of it.
    size_t characters = 0;
    for (const char c : text) characters += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
    if ((static_cast<uint8_t>(bytes.front()) & 0xC0) == 0x80) --characters;
    EXPECT_EQ(lists["text_offset"][i], characters) << bytes;
    text += bytes;
    if (i > 0) {
      EXPECT_GE(lists["top_logprobs"][i].size(), 20u);
    }
  }
  EXPECT_EQ(text, prompt);
  EXPECT_NE(lists["tokens"].dump().find("bytes:\\\\xe4"), std::string::npos) << lists["tokens"];
}

TEST(Completions, GenerateNothingIfAskedForNoTokens) {
  const Json request = {{"model", "lm"}, {"prompt", "the old"}, {"max_tokens", 0}};
  const Json choice = posted("/v1/completions", request)["choices"][0];
  EXPECT_EQ(choice["text"], "");
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_TRUE(choice["logprobs"].is_null());
  EXPECT_EQ(streamed("/v1/completions", request)[0]["choices"][0], choice);
  refused("/v1/completions", {{"model", "t5"}, {"prompt", "a"}, {"echo", true}, {"logprobs", 1}},
          "echo");
}

}  // namespace
}  // namespace heed::serve
