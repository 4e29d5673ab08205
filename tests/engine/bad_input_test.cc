// Every function of Model refuses what it cannot do with an Error that says what was expected.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

constexpr const char* kNotUtf8 = "the \xff sea";
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Expects an Error whose message holds `words`.
void expect_refused(const std::string& words, const std::function<void()>& action) {
  const std::string message = error_of(action);
  EXPECT_NE(message.find(words), std::string::npos)
      << "expected \"" << words << "\", got: " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(BadInput, OfLoad) {
  TemporaryDirectory folder;
  expect_refused("missing is not a model directory", [&] { Model::load(folder / "missing"); });
  expect_refused("has no config.json", [&] { Model::load(folder.path()); });
  std::filesystem::create_directory(folder / "gliner");
  write_quickly(folder / "gliner" / "gliner_config.json", "{}");
  expect_refused("it is a GLiNER model, which heed does not run",
                 [&] { Model::load(folder / "gliner"); });
  expect_refused("missing.gguf", [&] { Model::load(folder / "missing.gguf"); });
  EXPECT_THROW(Model::load(""), Error);
  EXPECT_THROW(Model::load(std::string(5000, 'a')), Error);
  write_quickly(folder / "damaged.gguf", "GGUF....");
  expect_refused("damaged.gguf", [&] { Model::load(folder / "damaged.gguf"); });
  write_decoder(folder / "model");
  write_quickly(folder / "model" / "model.safetensors", "damaged");
  expect_refused("model.safetensors", [&] { Model::load(folder / "model"); });
}

TEST(BadInput, OfLoadOptions) {
  const auto load = [](const LoadOptions& options) {
    return [options] { Model::load(models().decoder(), options); };
  };
  expect_refused("weights is 99, expected 0 to 9", load({.weights = static_cast<WeightType>(99)}));
  expect_refused("compute is 7, expected 0 to 2", load({.compute = static_cast<Compute>(7)}));
  expect_refused("cache is 3, expected 0 to 2", load({.cache = static_cast<CacheType>(3)}));
  expect_refused("int8 arithmetic needs quantised weights",
                 load({.weights = WeightType::f32, .compute = Compute::int8}));
}

TEST(BadInput, OfFilesBesideTheWeightsIsReportedWhereTheyAreNeeded) {
  TemporaryDirectory folder;
  write_decoder(folder / "model");
  write_quickly(folder / "model" / "tokenizer.model", "damaged");
  write_quickly(folder / "model" / "generation_config.json", "{");
  const Model model = Model::load(folder / "model");
  expect_refused("tokenizer.model", [&] { model.tokenize("the"); });
  expect_refused("tokenizer.model", [&] { model.detokenize(std::vector<int32_t>{1}); });
  expect_refused("tokenizer.model", [&] { model.token_text(1); });
  expect_refused("tokenizer.model", [&] { model.score("the"); });
  expect_refused("tokenizer.model", [&] { model.embed("the"); });
  expect_refused("tokenizer.model", [&] { model.attention("the"); });
  expect_refused("generation_config.json", [&] { model.generate("the"); });
  expect_refused("generation_config.json", [&] { model.eos_ids(); });
}

TEST(BadInput, OfGenerate) {
  const Model model = Model::load(models().decoder());
  const auto refused = [&](const std::string& words, const GenerateOptions& options) {
    expect_refused(words, [&] { model.generate("the", options); });
    expect_refused(words, [&] { model.generate_batch({"the"}, options); });
  };
  refused("max_new_tokens is 0", {.max_new_tokens = 0});
  refused("min_new_tokens is -1", {.min_new_tokens = -1});
  refused("min_new_tokens is 4, expected at most max_new_tokens, 3",
          {.max_new_tokens = 3, .min_new_tokens = 4});
  refused("min_new_tokens is 2, and what the output must match ends it",
          {.min_new_tokens = 2, .structured_output = {.regex = "a*"}});
  refused("max_new_tokens is 9223372036854775807", {.max_new_tokens = kLargest});
  refused("temperature is -1", {.temperature = -1.0f});
  refused("temperature is nan", {.temperature = kNan});
  refused("top_k is -1", {.top_k = -1});
  refused("top_p is 0", {.top_p = 0.0f});
  refused("min_p is 2", {.min_p = 2.0f});
  refused("repetition_penalty is 0", {.repetition_penalty = 0.0f});
  refused("presence_penalty is nan", {.presence_penalty = kNan});
  refused("frequency_penalty is 101", {.frequency_penalty = 101.0f});
  refused("logit bias of token 120", {.logit_bias = {{120, 1.0f}}});
  refused("a stop string is not valid UTF-8", {.stop = {kNotUtf8}});
  refused("top_log_probabilities is -2", {.top_log_probabilities = -2});
  refused("batch_tokens is 0", {.batch_tokens = 0});

  expect_refused("prompt 1: the text is not valid UTF-8", [&] { model.generate(kNotUtf8); });
  expect_refused("prompt 8: the text is not valid UTF-8", [&] {
    model.generate_batch({"the", kNotUtf8}, {}, 7);
  });
  expect_refused("first_number is 0", [&] { model.generate_batch({"the"}, {}, 0); });
  expect_refused("prompt 1: no tokens", [&] { model.generate(std::vector<int32_t>{}); });
  expect_refused("prompt 1: token -1", [&] { model.generate(std::vector<int32_t>{-1}); });
  expect_refused("prompt 1: 65 tokens, the model reads at most 64",
                 [&] { model.generate(std::vector<int32_t>(65, 3)); });
  expect_refused("cannot generate, expected a decoder-only model; it can ",
                 [] { Model::load(models().masked()).generate("the"); });
  expect_refused("made for translation",
                 [] { Model::load(models().translator()).generate("the"); });
}

TEST(BadInput, OfACallbackEndsTheGeneration) {
  const Model model = Model::load(models().decoder());
  EXPECT_THROW(
      model.generate("the", {}, [](std::string_view) { throw std::runtime_error("enough"); }),
      std::runtime_error);
  EXPECT_FALSE(model.generate("the", {.max_new_tokens = 3}).tokens.empty());
}

TEST(BadInput, OfSearch) {
  const Model model = Model::load(models().decoder());
  const auto refused = [&](const std::string& words, const SearchOptions& options) {
    expect_refused(words, [&] { model.search_batch({"the"}, options); });
  };
  refused("num_beams is 0", {.num_beams = 0});
  refused("num_beams is 257", {.num_beams = 257});
  refused("n_best is 3, expected 1 to 2", {.num_beams = 2, .n_best = 3});
  refused("length_penalty is nan", {.num_beams = 2, .length_penalty = kNan});
  expect_refused("prompt 1: the text is not valid UTF-8",
                 [&] { model.search_batch({kNotUtf8}, {.num_beams = 2}); });
}

TEST(BadInput, OfTranslate) {
  const Model model = Model::load(models().translator());
  expect_refused("line 1: the text is not valid UTF-8", [&] { model.translate(kNotUtf8); });
  expect_refused("line 5: the text is not valid UTF-8", [&] {
    model.translate_batch({"the", kNotUtf8}, {}, 4);
  });
  std::string line;
  for (int i = 0; i < 100; ++i) line += "the ";
  expect_refused("the model reads at most 64", [&] { model.translate(line); });
  expect_refused("num_beams is 0", [&] { model.translate("the", {.search = {.num_beams = 0}}); });
  expect_refused("batch_tokens is -1", [&] { model.translate("the", {.batch_tokens = -1}); });
  expect_refused("batch_tokens is 9223372036854775807",
                 [&] { model.translate("the", {.batch_tokens = kLargest}); });
  expect_refused("first_number is 0", [&] { model.translate_batch({"the"}, {}, 0); });
  expect_refused("max_new_tokens is 0",
                 [&] { model.translate("the", {.search = {.max_new_tokens = 0}}); });
  expect_refused("cannot translate, expected an encoder-decoder for translation; it can ",
                 [] { Model::load(models().decoder()).translate("the"); });
  expect_refused("translation needs a vocabulary for each side",
                 [] { Model::load(models().t5()).translate("the"); });
}

TEST(BadInput, OfEmbed) {
  const Model model = Model::load(models().encoder());
  expect_refused("text 1: the text is not valid UTF-8", [&] { model.embed(kNotUtf8); });
  expect_refused("text 4: the text is not valid UTF-8", [&] {
    model.embed_batch({"the", kNotUtf8}, {}, 3);
  });
  expect_refused("pooling is 9", [&] { model.embed("the", {.pooling = static_cast<Pooling>(9)}); });
  expect_refused("max_seq_length is 0", [&] { model.embed("the", {.max_seq_length = 0}); });
  expect_refused("max_seq_length is 33", [&] { model.embed("the", {.max_seq_length = 33}); });
  expect_refused("batch_tokens is -1", [&] { model.embed("the", {.batch_tokens = -1}); });
  expect_refused("batch_tokens is 9223372036854775807",
                 [&] { model.embed("the", {.batch_tokens = kLargest}); });
  expect_refused("first_number is 9223372036854775807", [&] {
    model.embed_batch({"the", "sea"}, {}, kLargest);
  });
  expect_refused("no pooler",
                 [] { Model::load(models().masked()).embed("the", {.pooling = Pooling::pooler}); });
  expect_refused("cannot embed, expected an encoder-only or a decoder-only model; it can translate",
                 [] { Model::load(models().translator()).embed("the"); });
}

TEST(BadInput, OfScore) {
  const Model model = Model::load(models().decoder());
  expect_refused("the text is not valid UTF-8", [&] { model.score(kNotUtf8); });
  expect_refused("expected at least 2 tokens, found 0", [&] { model.score(""); });
  expect_refused("the window is 65", [&] { model.score("the old", {.window = 65}); });
  expect_refused("the stride is 8", [&] { model.score("the old", {.window = 8, .stride = 8}); });
  expect_refused("the stride is -1", [&] { model.score("the old", {.stride = -1}); });
  expect_refused("expected an encoder-decoder", [&] { model.score_pair("the", "old"); });
  const Model translator = Model::load(models().translator());
  expect_refused("expected a decoder-only model", [&] { translator.score("the old"); });
  expect_refused("the source is not valid UTF-8", [&] { translator.score_pair(kNotUtf8, "the"); });
  expect_refused("the target is not valid UTF-8", [&] { translator.score_pair("the", kNotUtf8); });
  std::string line;
  for (int i = 0; i < 100; ++i) line += "the ";
  EXPECT_THROW(translator.score_pair(line, "the"), Error);
  EXPECT_THROW(translator.score_pair("the", line), Error);
  expect_refused("cannot score texts, expected a model with a decoder; it can ",
                 [] { Model::load(models().masked()).score("the sea"); });
}

TEST(BadInput, OfFill) {
  const Model model = Model::load(models().masked());
  expect_refused("the text is not valid UTF-8", [&] { model.fill(kNotUtf8); });
  expect_refused("the text has no mask", [&] { model.fill("the sea"); });
  expect_refused("top is 0", [&] { model.fill("[MASK]", 0); });
  EXPECT_EQ(model.fill("[MASK]", kLargest).masks[0].best.size(), 12u);  // the whole vocabulary
  expect_refused("encoder-only model", [] { Model::load(models().decoder()).fill("[MASK]"); });
  expect_refused("language model head", [] { Model::load(models().encoder()).fill("[MASK]"); });
  std::string line = "[MASK]";
  for (int i = 0; i < 40; ++i) line += " the";
  EXPECT_THROW(model.fill(line), Error);
}

TEST(BadInput, OfAttention) {
  const Model model = Model::load(models().translator());
  const auto refused = [&](const std::string& words, const AttentionOptions& options) {
    expect_refused(words, [&] { model.attention("the old", options); });
  };
  expect_refused("the text is not valid UTF-8", [&] { model.attention(kNotUtf8); });
  expect_refused("text is empty", [&] { model.attention(""); });
  refused("the target is not valid UTF-8", {.target = kNotUtf8});
  refused("there are more than 10 attention weights", {.max_weights = 10});
  refused("layer 2 of the encoder_self attention does not exist, expected 0 to 1", {.layer = 2});
  refused("head -1 of the cross attention does not exist",
          {.kind = AttentionKind::cross, .head = -1});
  refused("the model has no ? attention", {.kind = static_cast<AttentionKind>(5)});
  const Model decoder = Model::load(models().decoder());
  expect_refused("no cross attention",
                 [&] { decoder.attention("the", {.kind = AttentionKind::cross}); });
  expect_refused("a target was given", [&] { decoder.attention("the", {.target = "old"}); });
  std::string line;
  for (int i = 0; i < 100; ++i) line += "the ";
  EXPECT_THROW(decoder.attention(line), Error);
}

TEST(BadInput, OfTokenize) {
  for (const auto& path : {models().decoder(), models().translator()}) {
    const Model model = Model::load(path);
    expect_refused("the text is not valid UTF-8", [&] { model.tokenize(kNotUtf8); });
    expect_refused("token -1 is outside the vocabulary",
                   [&] { model.detokenize(std::vector<int32_t>{-1}); });
    expect_refused("is outside the vocabulary", [&] { model.token_text(1000); });
  }
}

}  // namespace
}  // namespace heed::engine
