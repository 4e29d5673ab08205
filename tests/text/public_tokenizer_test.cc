// heed::Tokenizer, as programs use it.
#include <gtest/gtest.h>

#include <thread>

#include "heed/tokenizer.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed {
namespace {

using text::kGoldenTokenizers;

std::vector<std::string> random_lines(uint64_t count) {
  const text::TokenizerLines lines(kGoldenTokenizers);
  std::vector<std::string> texts;
  for (uint64_t number = 0; number < count; ++number) texts.push_back(lines.line(number));
  return texts;
}

void expect_same_ids(const Tokenizer& a, const Tokenizer& b) {
  for (const std::string& text : random_lines(200)) {
    const std::vector<int32_t> ids = a.encode(text);
    ASSERT_EQ(ids, b.encode(text)) << text;
    ASSERT_EQ(a.decode(ids), b.decode(ids));
  }
}

TEST(PublicTokenizer, ReadsAFileAndADirectoryWithTheSameIds) {
  for (const std::string kind : {"llama3", "bert_uncased", "t5"}) {
    const TemporaryDirectory folder;
    const std::filesystem::path file = kGoldenTokenizers / (kind + ".json");
    std::filesystem::copy_file(file, folder / "tokenizer.json");
    expect_same_ids(Tokenizer::load(file), Tokenizer::load(folder.path()));
  }
}

TEST(PublicTokenizer, IsSavedAndReadAgain) {
  const TemporaryDirectory folder;
  const auto byte_level = Tokenizer::load(kGoldenTokenizers / "qwen2.json");
  byte_level.save(folder / "json/new");
  expect_same_ids(byte_level, Tokenizer::load(folder / "json/new"));
  const auto unigram = Tokenizer::load(kGoldenTokenizers / "t5.model");
  unigram.save(folder / "model");
  expect_same_ids(unigram, Tokenizer::load(folder / "model"));
}

TEST(PublicTokenizer, TrainsEachKindAndReadsItAgain) {
  using Kind = TrainTokenizerOptions::Kind;
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back("The old sailor counted " + std::to_string(i * 37) + " geese.");
  for (const Kind kind : {Kind::byte_level_bpe, Kind::bpe, Kind::unigram}) {
    const TemporaryDirectory folder;
    const auto tokenizer = Tokenizer::train(texts, {.kind = kind, .vocab_size = 300});
    tokenizer.save(folder.path());
    expect_same_ids(tokenizer, Tokenizer::load(folder.path()));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(texts[7])), texts[7]);
    EXPECT_LE(tokenizer.vocab_size(), 300);
    EXPECT_LT(tokenizer.encode(texts[7]).size(), texts[7].size());
  }
}

TEST(PublicTokenizer, EncodesABatchAsEachTextAlone) {
  const auto tokenizer = Tokenizer::load(kGoldenTokenizers / "roberta.json");
  const std::vector<std::string> texts = random_lines(300);
  for (const int threads : {1, 3}) {
    const auto executor = std::make_shared<Executor>(threads);
    const auto ids = tokenizer.encode_batch(texts, true, executor);
    const auto encodings = tokenizer.encode_batch_with_offsets(texts, {.max_tokens = 8}, executor);
    ASSERT_EQ(ids.size(), texts.size());
    ASSERT_EQ(encodings.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(ids[i], tokenizer.encode(texts[i]));
      const Encoding alone = tokenizer.encode_with_offsets(texts[i], {.max_tokens = 8});
      EXPECT_EQ(encodings[i].ids, alone.ids);
      EXPECT_EQ(encodings[i].offsets, alone.offsets);
      EXPECT_LE(alone.ids.size(), 8u);
    }
  }
  EXPECT_TRUE(tokenizer.encode_batch({}).empty());
}

TEST(PublicTokenizer, NamesTheTextOfABatchThatIsRefused) {
  // Word pieces without the unknown one.
  const TemporaryDirectory folder;
  write_quickly(folder / "tokenizer.json", R"({"model": {"type": "WordLevel", "unk_token": "u",
    "vocab": {"a": 0}}, "pre_tokenizer": {"type": "WhitespaceSplit"}})");
  const auto tokenizer = Tokenizer::load(folder.path());
  expect_error(
      [&] {
        tokenizer.encode_batch(std::vector<std::string>{"a", "a a", "a b", "c"});
      },
      "text 3: neither the word \"b\"");
  expect_error([&] { tokenizer.encode_with_offsets("a", {.max_tokens = -1}); }, "max_tokens is -1");
}

TEST(PublicTokenizer, KnowsItsTokens) {
  const auto tokenizer = Tokenizer::load(kGoldenTokenizers / "bert_uncased.json");
  const SpecialTokens& special = tokenizer.special_tokens();
  EXPECT_EQ(special.cls, 2);
  EXPECT_EQ(special.sep, 3);
  EXPECT_EQ(special.bos, std::nullopt);
  EXPECT_EQ(tokenizer.token(2), "[CLS]");
  EXPECT_EQ(tokenizer.token_id("[CLS]"), 2);
  EXPECT_EQ(tokenizer.token_id("no such token"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(2));
  EXPECT_FALSE(tokenizer.is_special(100));
  ASSERT_EQ(tokenizer.added_tokens().size(), 5u);
  EXPECT_EQ(tokenizer.added_tokens()[4].content, "[MASK]");
  EXPECT_TRUE(tokenizer.added_tokens()[4].special);
  expect_error([&] { tokenizer.token(1 << 20); }, "there is no piece 1048576");
}

TEST(PublicTokenizer, DecodesAStreamAsTheWhole) {
  const auto tokenizer = Tokenizer::load(kGoldenTokenizers / "llama3.json");
  const std::string text = "Gr\u00FC\u00DFe \u4E2D\u6587 \U0001F642!";
  DecodeStream stream(tokenizer);
  std::string streamed;
  for (const int32_t id : tokenizer.encode(text)) streamed += stream.feed(id);
  EXPECT_EQ(streamed + stream.finish(), text);
}

TEST(PublicTokenizer, IsSharedByThreads) {
  const auto tokenizer = Tokenizer::load(kGoldenTokenizers / "xlm_roberta.json");
  const std::vector<std::string> texts = random_lines(100);
  const auto expected = tokenizer.encode_batch(texts);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, copy = tokenizer] {
      for (size_t t = 0; t < texts.size(); ++t)
        if (copy.encode(texts[t]) != expected[t]) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(PublicTokenizer, SaysWhatItCannotRead) {
  const TemporaryDirectory folder;
  expect_error([&] { Tokenizer::load(folder.path()); },
               "has no tokenizer, expected tokenizer.json");
  expect_error([&] { Tokenizer::load(folder / "absent.model"); }, "absent.model");
  write_quickly(folder / "x.gguf", "no model");
  expect_error([&] { Tokenizer::load(folder / "x.gguf"); }, "does not begin with \"GGUF\"");
  write_quickly(folder / "source.spm", "");
  expect_error([&] { Tokenizer::load(folder.path()); },
               "has a vocabulary for each side of a translation");
}

}  // namespace
}  // namespace heed
