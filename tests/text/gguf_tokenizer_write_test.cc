#include "heed/text/gguf/tokenizer_write.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/text/gguf/tokenizer.h"
#include "tests/base/testing.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

Tokenizer golden(const std::string& name) {
  const fs::path path =
      fs::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers" / (name + std::string(".json"));
  return Tokenizer::from_json(parse_json(read_file(path), path.string()), path.string());
}

io::GgufMetadata saved(const GgufTokenizer& tokenizer, const TemporaryDirectory& folder) {
  io::write_gguf(folder / "vocabulary.gguf",
                 {.metadata = io::gguf_metadata_bytes(tokenizer.metadata), .tensors = {}},
                 [](const io::GgufTensor&) { return Tensor(); });
  return io::GgufMetadata::open(folder / "vocabulary.gguf");
}

class WrittenGgufTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(WrittenGgufTokenizer, GivesTheSameIds) {
  const TemporaryDirectory folder;
  const Tokenizer tokenizer = golden(GetParam());
  const GgufTokenizer written = gguf_tokenizer(tokenizer, tokenizer.vocab_size() + 3);
  const io::GgufMetadata metadata = saved(written, folder);
  EXPECT_EQ(metadata.length("tokenizer.ggml.tokens"), tokenizer.vocab_size() + 3);
  EXPECT_NO_THROW(check_gguf_tokenizer(metadata, "file", tokenizer, written));
  const Tokenizer again = read_gguf_tokenizer(metadata, "file");
  for (const char* text : {"The old man, 1234 and the sea.", "for (i = 0; i < 10; ++i) {}"})
    EXPECT_EQ(again.encode(text), tokenizer.encode(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(Golden, WrittenGgufTokenizer,
                         testing::Values("gpt2", "llama3", "qwen2", "roberta", "llama2",
                                         "bert_uncased"),
                         [](const auto& param) { return std::string(param.param); });

std::string refusal(const std::string& name) {
  try {
    gguf_tokenizer(golden(name), 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(GgufTokenizerRefusals, NameThePart) {
  EXPECT_EQ(refusal("word_level"), "GGUF files have no tokenizers of type \"WordLevel\"");
  EXPECT_EQ(refusal("gpt4o").find("GGUF files have no pre-tokenizer"), 0u) << refusal("gpt4o");
}

TEST(GgufTokenizer, WarnsOfALeftOutNormalizer) {
  EXPECT_TRUE(gguf_tokenizer(golden("llama3"), 0).warnings.empty());
  const GgufTokenizer qwen = gguf_tokenizer(golden("qwen2"), 0);
  ASSERT_EQ(qwen.warnings.size(), 1u);
  EXPECT_NE(qwen.warnings.front().find("NFC"), std::string::npos) << qwen.warnings.front();
}

}  // namespace
}  // namespace heed::text
