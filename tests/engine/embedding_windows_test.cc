// Texts that are read in windows. The expected numbers come from
// tests/golden/embedding_modules/windows.py.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/error.h"
#include "heed/model.h"
#include "tests/base/threads.h"
#include "tests/engine/layered_folder.h"

namespace heed {
namespace {

const std::string kLongText =
    "the cat the kitten and the fire the warm stove of Ada in London sits by the engines they met "
    "the cat sits on the warm stove the kitten sits by the fire";

void expect_near(const std::vector<float>& found, const nlohmann::json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i].get<double>(), 1e-5) << i;
}

TEST(WindowsOfATextThatIsEmbedded, AreThoseOfTransformersWithTheVectorsOfSentenceTransformers) {
  const Model model = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  const auto cases =
      nlohmann::json::parse(read_file(LayeredFolder::golden("embedding_modules") / "windows.json"));
  for (const auto& one : cases) {
    const EmbedOptions options{.window = one["window"].get<int64_t>(),
                               .overlap = one["overlap"].get<int64_t>()};
    SCOPED_TRACE(one["text"].dump() + one["window"].dump());
    const std::vector<std::string> texts{one["text"].get<std::string>()};
    const std::vector<WindowEmbedding> windows = model.embed_windows(texts, options).at(0);
    ASSERT_EQ(windows.size(), one["windows"].size());
    for (size_t i = 0; i < windows.size(); ++i) {
      const auto& expected = one["windows"][i];
      EXPECT_EQ(windows[i].tokens, expected["tokens"]);
      EXPECT_EQ(windows[i].start, expected["start"]);
      EXPECT_EQ(windows[i].end, expected["end"]);
      expect_near(windows[i].vector, expected["vector"]);
    }
    expect_near(model.embed(texts[0], options), one["embedding"]);
  }
}

TEST(WindowsOfATextThatIsEmbedded, LeaveATextThatFitsAsItIs) {
  const Model model = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  for (const std::string& text : encoder_texts()) {
    const auto whole = model.embed(text);
    EXPECT_EQ(model.embed(text, {.window = 48, .overlap = 9}), whole) << text;
    const auto windows = model.embed_windows({text}, {.window = 48}).at(0);
    ASSERT_EQ(windows.size(), 1u);
    EXPECT_EQ(windows[0].vector, whole) << text;
  }
  EXPECT_EQ(model.embed_windows({""}, {.window = 8}).at(0).at(0).tokens, 0);
  EXPECT_TRUE(model.embed_windows({}, {.window = 8}).empty());
  EXPECT_TRUE(model.embed_batch({}, {.window = 8}).empty());
}

TEST(WindowsOfATextThatIsEmbedded, HaveThePromptEach) {
  const LayeredFolder folder({"encoders/embed-bert", "embedding_modules/prompts"});
  const Model model = Model::load(folder.path());
  const EmbedOptions options{.prompt_name = "query", .window = 12, .overlap = 1};
  const auto windows = model.embed_windows({kLongText}, options).at(0);
  EXPECT_GT(windows.size(), 3u);
  for (const WindowEmbedding& window : windows) {
    const auto length = static_cast<size_t>(window.end - window.start);
    const std::string part = kLongText.substr(static_cast<size_t>(window.start), length);
    EXPECT_LE(window.tokens, 7);  // without three of the prompt and two special ones
    EXPECT_EQ(window.vector, model.embed(part, {.prompt_name = "query"})) << part;
  }
  EXPECT_EQ(windows.front().start, 0);
  EXPECT_EQ(windows.back().end, static_cast<int64_t>(kLongText.size()));
}

TEST(WindowsOfATextThatIsEmbedded, AreAveragedBeforeDimensionsAreLeftOut) {
  const Model model = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  const auto whole = model.embed(kLongText, {.window = 12});
  const auto some = model.embed(kLongText, {.dimensions = 5, .window = 12});
  EXPECT_EQ(some, std::vector<float>(whole.begin(), whole.begin() + 5));
  double squares = 0;
  for (const float x : whole) squares += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NEAR(squares, 1, 1e-6);
  const auto plain = model.embed(kLongText, {.normalize = false, .window = 12});
  const auto scaled = model.embed(kLongText, {.normalize = true, .window = 12});
  EXPECT_NE(plain, scaled);
}

TEST(WindowsOfATextThatIsEmbedded, DoNotDependOnTheBatchOrTheNumberOfThreads) {
  const Model model = Model::load(LayeredFolder::golden("encoders/embed-bert"));
  const EmbedOptions options{.window = 10, .overlap = 3};
  std::vector<std::string> texts;
  for (size_t i = 0; i < 20; ++i) texts.push_back(kLongText.substr(0, 7 * i));
  const auto expected = model.embed_batch(texts, options);
  for (const int threads : {1, 3}) {
    const Threads set(threads);
    for (size_t i = 0; i < texts.size(); i += 6)
      EXPECT_EQ(model.embed(texts[i], options), expected[i]);
  }
}

/// "İ" is two characters in lower case.
TEST(WindowsOfATextThatIsEmbedded, HaveThePlacesOfTheTextAsItIs) {
  const LayeredFolder folder({"encoders/embed-bert"});
  const Model model = Model::load(folder.path());
  const std::string text = "\u0130\u0130\u0130 \u00e9t\u00e9 the CAT the CAT the CAT";
  const auto as_is = model.embed_windows({text}, {.window = 5}).at(0);
  folder.change("sentence_bert_config.json", {{"do_lower_case", true}});
  const auto lowered = Model::load(folder.path()).embed_windows({text}, {.window = 5}).at(0);
  EXPECT_EQ(as_is.front().start, 0);
  EXPECT_EQ(lowered.front().start, 0);
  EXPECT_EQ(as_is.back().end, 31);
  EXPECT_EQ(lowered.back().end, 31);
}

TEST(WindowsOfATextThatIsEmbedded, SayWhatIsWrong) {
  const LayeredFolder folder({"encoders/embed-bert", "embedding_modules/prompts"});
  const Model model = Model::load(folder.path());
  const auto refused = [&](const EmbedOptions& options, const std::string& message) {
    expect_error([&] { model.embed(kLongText, options); }, message);
  };
  refused({.window = 49}, "window is 49, expected at most 48: the model's context length");
  refused({.window = 0}, "window is 0");
  refused({.window = 12, .overlap = -1}, "overlap is -1");
  refused({.window = 12, .overlap = 12}, "overlap is 12, expected less than window, 12");
  refused({.overlap = 2}, "overlap is 2, expected less than window, which is not given");
  refused({.prompt = "", .window = 2},
          "window is 2, and special tokens and the prompt take 2: no room for the text");
  refused({.prompt = "the cat of ", .window = 5}, "the prompt take 5: no room");
  refused({.prompt = "", .window = 12, .overlap = 10},
          "overlap is 10, expected less than 10: the tokens of a text in a window");
  refused({.max_seq_length = 5, .window = 5}, "both window and max_seq_length are given");
  std::string long_text;
  for (int i = 0; i < 400'000; ++i) long_text += "a ";
  expect_error(
      [&] {
        model.embed_windows({"a", long_text}, {.prompt = "", .window = 48, .overlap = 45});
      },
      "text 2: the text has 399955 windows of 48 tokens");
  expect_error([&] { model.embed_windows({"a"}, {}); }, "there is no window");
  expect_error(
      [&] {
        model.embed_tokens({{1, 2}}, {.window = 5});
      },
      "tokens are not read in windows");
  expect_error([&] { model.token_embeddings({"a"}, {.window = 5}); }, "window are of embed()");
}

}  // namespace
}  // namespace heed
