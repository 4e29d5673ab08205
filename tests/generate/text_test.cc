// Streaming of generated text. The model is random and its vocabulary is bytes, so that its output
// is full of invalid and incomplete UTF-8.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/generate/generator.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

/// Bytes; `special` is one that the text of an output leaves out.
text::Tokenizer byte_tokenizer(std::optional<char> special = {}) {
  nlohmann::json vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    std::string letter;
    text::append_byte_characters(letter, std::string(1, static_cast<char>(byte)));
    vocabulary[letter] = byte;
  }
  nlohmann::json added = nlohmann::json::array();
  if (special)
    added.push_back({{"id", static_cast<int>(*special)},
                     {"content", std::string(1, *special)},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  return text::Tokenizer::from_json(
      {{"added_tokens", added},
       {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}},
       {"pre_tokenizer",
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
       {"decoder", {{"type", "ByteLevel"}}}},
      "tokenizer.json");
}

const model::Transformer& byte_model() {
  static const model::Transformer model([] {
    model::ModelConfig config;
    config.vocab_size = 256;
    config.d_model = 16;
    config.n_heads = 4;
    config.d_ff = 32;
    config.encoder_layers = 0;
    config.decoder_layers = 1;
    config.max_positions = 512;
    return config;
  }());
  return model;
}

/// Options for random outputs of letters and the bytes of "é" and "€".
GeneratorOptions random_bytes() {
  GeneratorOptions options;
  options.max_new_tokens = 300;
  options.sampling.temperature = 100.0f;  // nearly uniform over the allowed bytes
  const std::string allowed = "ab\xC3\xA9\xE2\x82\xAC";
  for (int byte = 0; byte < 256; ++byte)
    if (allowed.find(static_cast<char>(byte)) == std::string::npos)
      options.sampling.logit_bias.push_back({byte, -std::numeric_limits<float>::infinity()});
  return options;
}

TEST(GeneratedText, NeverStreamsHalfACharacter) {
  const Generator generator(byte_model(), byte_tokenizer(), random_bytes());
  std::vector<std::string> streamed(3);
  const auto found = generator.generate({{97}, {98, 0xC3}, {99}}, 0, [&](size_t i, auto text) {
    EXPECT_TRUE(text::is_valid_utf8(text));
    streamed[i] += text;
  });
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(streamed[i], found[i].text);
    EXPECT_NE(found[i].text.find("\u00E9"), std::string::npos);
  }
}

TEST(GeneratedText, EndsBeforeAStopStringThatSpansTokens) {
  GeneratorOptions options = random_bytes();
  const auto whole = Generator(byte_model(), byte_tokenizer(), options).generate({{97}}).front();
  options.stop = {"\u00E9", "abab"};
  std::string streamed;
  const auto cut = Generator(byte_model(), byte_tokenizer(), options)
                       .generate({{97}}, 0, [&](size_t, auto text) { streamed += text; });
  size_t first = std::string::npos;
  for (const std::string& stop : options.stop) first = std::min(first, whole.text.find(stop));
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(cut.front().finish_reason, FinishReason::stop);
  EXPECT_EQ(cut.front().stop_string,
            whole.text.substr(first).starts_with("ab") ? "abab" : "\u00E9");
  EXPECT_EQ(cut.front().text, whole.text.substr(0, first));
  EXPECT_EQ(streamed, cut.front().text);
  EXPECT_LT(cut.front().tokens.size(), whole.tokens.size());
}

TEST(GeneratedText, EndsAtASpecialTokenThatIsAStopString) {
  GeneratorOptions options = random_bytes();
  const auto whole = Generator(byte_model(), byte_tokenizer('a'), options).generate({{97}}).front();
  EXPECT_EQ(whole.text.find('a'), std::string::npos);
  const size_t end =
      static_cast<size_t>(std::ranges::find(whole.tokens, 97) - whole.tokens.begin());
  ASSERT_LT(end, whole.tokens.size());
  options.stop = {"a"};
  const auto cut = Generator(byte_model(), byte_tokenizer('a'), options).generate({{97}}).front();
  EXPECT_EQ(cut.tokens.size(), end + 1);
  EXPECT_EQ(cut.finish_reason, FinishReason::stop);
  EXPECT_EQ(cut.stop_string, "a");
  EXPECT_TRUE(whole.text.starts_with(cut.text));
}

TEST(GeneratedText, EndsAtAStopStringOfWhichASpecialTokenIsAPart) {
  GeneratorOptions options = random_bytes();
  for (int byte = 'c'; byte < 256; ++byte)
    options.sampling.logit_bias.push_back({byte, -std::numeric_limits<float>::infinity()});
  options.stop = {"bab"};
  const auto cut = Generator(byte_model(), byte_tokenizer('a'), options).generate({{97}}).front();
  ASSERT_EQ(cut.stop_string, "bab");
  const std::vector<int32_t> last(cut.tokens.end() - 3, cut.tokens.end());
  EXPECT_EQ(last, (std::vector<int32_t>{98, 97, 98}));
  EXPECT_EQ(cut.text.find('a'), std::string::npos);
}

}  // namespace
}  // namespace heed::generate
