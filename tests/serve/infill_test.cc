// /infill and "suffix" of /v1/completions generate what follows a prompt with a gap.
#include "heed/text/fill_in_middle.h"
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

const Json kGap = {{"model", "coder"},
                   {"input_prefix", "def a():\n  return "},
                   {"input_suffix", "\n\ndef b(): pass"},
                   {"n_predict", 12}};

std::string filled(const text::TextWithGap& text) {
  const Model model = RunningServer::shared().model("coder");
  const Tokenizer tokenizer = model.tokenizer();
  return model
      .generate(text::fill_in_middle_prompt(text::unwrapped(tokenizer), text),
                {.max_new_tokens = 12})
      .text;
}

TEST(InfillRoute, GeneratesWhatBelongsIntoTheGap) {
  const std::string expected = filled({kGap["input_prefix"], kGap["input_suffix"]});
  const Json answer = posted("/infill", kGap);
  EXPECT_EQ(answer["content"], expected);
  EXPECT_EQ(answer["stop"], true);
  EXPECT_EQ(answer["tokens_predicted"], 12);
  EXPECT_EQ(answer["stop_type"], "limit");
  Json streamed = kGap;
  streamed["stream"] = true;
  std::string text;
  for (const Event& event : events_of(post("/infill", streamed).body))
    text += Json::parse(event.data)["content"].get<std::string>();
  EXPECT_EQ(text, expected);
  const Json completion = posted("/v1/completions", {{"model", "coder"},
                                                     {"prompt", kGap["input_prefix"]},
                                                     {"suffix", kGap["input_suffix"]},
                                                     {"max_tokens", 12}});
  EXPECT_EQ(completion["choices"][0]["text"], expected);
  Json begun = kGap;
  begun["prompt"] = "7 +";
  EXPECT_EQ(
      posted("/infill", begun)["content"],
      filled({.prefix = kGap["input_prefix"], .suffix = kGap["input_suffix"], .middle = "7 +"}));
}

TEST(InfillRoute, NamesWhatEditorsSendAndIsIgnored) {
  Json request = kGap;
  request["samplers"] = {"top_k", "infill"};
  request["t_max_predict_ms"] = 500;
  request["cache_prompt"] = true;
  const Answer answer = post("/infill", request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("x-heed-ignored"), "samplers, t_max_predict_ms");
}

TEST(InfillRoute, SaysWhyItCannotFill) {
  Json request = kGap;
  request["model"] = "bytes";
  const Json error = refused("/infill", request, "input_suffix");
  EXPECT_NE(error["message"].get<std::string>().find("<|fim_prefix|>"), std::string::npos);
  refused("/v1/completions", {{"model", "lm"}, {"prompt", "a"}, {"suffix", "b"}}, "suffix");
  refused("/v1/completions", {{"model", "coder"}, {"prompt", {5, 6}}, {"suffix", "b"}}, "suffix");
  refused("/v1/completions",
          {{"model", "coder"}, {"prompt", "a"}, {"suffix", "b"}, {"echo", true}, {"logprobs", 1}},
          "suffix");
  request["model"] = "coder";
  request["input_extra"] = {{{"filename", "a.py"}, {"text", "b"}}};
  const Json files = refused("/infill", request, "input_suffix");
  EXPECT_NE(files["message"].get<std::string>().find("<|file_sep|>"), std::string::npos);
  refused_each("/infill", kGap,
               {{"input_prefix", 1}, {"input_extra", "a"}, {"prompt", {1}}, {"n_predict", -7}});
}

}  // namespace
}  // namespace heed::serve
