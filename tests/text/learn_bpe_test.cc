#include "heed/text/training/learn_bpe.h"

#include <gtest/gtest.h>

#include "heed/base/parallel.h"
#include "heed/executor.h"
#include "heed/text/training/train_tokenizer.h"
#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

std::vector<std::string> merges_of(const LearnedBpe& learned) {
  std::vector<std::string> merges;
  const auto piece = [&](int32_t id) { return learned.pieces[static_cast<size_t>(id)]; };
  for (const auto& [left, right] : learned.merges)
    merges.push_back(piece(left) + ' ' + piece(right));
  return merges;
}

std::vector<std::string> random_lines(uint64_t count) {
  const TokenizerLines lines(kGoldenTokenizers);
  std::vector<std::string> texts;
  for (uint64_t number = 0; number < count; ++number) texts.push_back(lines.line(number));
  return texts;
}

using Merges = std::vector<std::string>;

TEST(LearnBpe, JoinsTheMostFrequentPairFirst) {
  // ab: 5, bc: 3, then abc: 2 and (ab, d): 1.
  const LearnedBpe learned =
      learn_bpe({{"abc", 2}, {"ab", 2}, {"abd", 1}, {"bc", 1}}, {"a", "b", "c", "d"}, 100, 0);
  EXPECT_EQ(merges_of(learned), (Merges{"a b", "ab c", "b c", "ab d"}));
  EXPECT_EQ(learned.pieces, (Merges{"a", "b", "c", "d", "ab", "abc", "bc", "abd"}));
}

TEST(LearnBpe, JoinsOfEquallyFrequentPairsTheOneWithTheLowestIds) {
  EXPECT_EQ(merges_of(learn_bpe({{"cd", 1}, {"ab", 1}, {"ad", 1}}, {"a", "b", "c", "d"}, 100, 0)),
            (Merges{"a b", "a d", "c d"}));
  EXPECT_EQ(merges_of(learn_bpe({{"cd", 1}, {"ab", 1}, {"ad", 1}}, {"d", "c", "b", "a"}, 100, 0)),
            (Merges{"c d", "a d", "a b"}));
}

TEST(LearnBpe, EndsAtTheSizeOfTheVocabularyAndAtTheLeastFrequency) {
  const WordCounts words{{"ab", 3}, {"cd", 2}, {"ef", 1}};
  const std::vector<std::string> letters{"a", "b", "c", "d", "e", "f"};
  EXPECT_EQ(merges_of(learn_bpe(words, letters, 7, 0)), Merges{"a b"});
  EXPECT_EQ(merges_of(learn_bpe(words, letters, 100, 2)), (Merges{"a b", "c d"}));
  EXPECT_TRUE(learn_bpe(words, letters, 6, 0).merges.empty());
}

TEST(LearnBpe, JoinsARepeatedLetterFromTheLeft) {
  EXPECT_EQ(merges_of(learn_bpe({{"aaaaa", 1}}, {"a"}, 100, 0)), (Merges{"a a", "aa a", "aa aaa"}));
}

TEST(TrainTokenizer, LearnsTheMergesOfThePythonLibrary) {
  const std::filesystem::path golden =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/bpe_training/expected.json";
  const auto expected = nlohmann::json::parse(read_file(golden));
  const std::vector<std::string> texts = random_lines(expected["lines"]);
  EXPECT_EQ(expected["cases"].size(), 4u);
  for (const auto& one : expected["cases"]) {
    SCOPED_TRACE(one["pre_tokenizer"].get<std::string>());
    TrainTokenizerOptions options;
    options.pre_tokenizer = one["pre_tokenizer"];
    options.vocab_size = one["vocab_size"];
    options.min_frequency = one["min_frequency"];
    options.special_tokens = one["special_tokens"].get<std::vector<std::string>>();
    const Tokenizer tokenizer = train_tokenizer(texts, options);
    const auto file = nlohmann::json::parse(tokenizer.files().at(0).second);
    Merges merges;
    for (const auto& merge : file["model"]["merges"])
      merges.push_back(merge[0].get<std::string>() + ' ' + merge[1].get<std::string>());
    EXPECT_EQ(merges, one["merges"].get<Merges>());
    EXPECT_EQ(tokenizer.vocab_size(), one["pieces"].get<int64_t>());
    EXPECT_EQ(tokenizer.piece(static_cast<int32_t>(tokenizer.vocab_size() - 1)),
              one["last"].get<std::string>());
  }
}

TEST(TrainTokenizer, LearnsTheSameOnAnyNumberOfThreads) {
  std::vector<std::string> texts;
  for (int i = 0; i < 3; ++i)
    for (std::string& text : random_lines(4000)) texts.push_back(std::move(text));
  std::string files[2];
  for (const int threads : {1, 3}) {
    Executor executor(threads);
    const ExecutorScope scope(executor);
    files[threads / 2] = train_tokenizer(texts, {.vocab_size = 400}).files().at(0).second;
  }
  EXPECT_EQ(files[0], files[1]);
}

TEST(TrainTokenizer, OfBytesReadsAnyTextBack) {
  const Tokenizer tokenizer = train_tokenizer({"some words, some more words"}, {.vocab_size = 300});
  const TokenizerLines lines(kGoldenTokenizers);
  for (uint64_t number = 0; number < 200; ++number) {
    const std::string text = with_replacements(lines.line(number));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text), false), text);
  }
  EXPECT_EQ(tokenizer.special_tokens().eos, tokenizer.id_of("<|endoftext|>"));
}

TEST(TrainTokenizer, RefusesWhatItCannotLearn) {
  const std::vector<std::string> texts{"some words"};
  expect_error([&] { train_tokenizer(texts, {.vocab_size = 256}); },
               "a vocabulary of 256 tokens, expected 257 (bytes and special tokens) to");
  expect_error([&] { train_tokenizer({"", ""}, {}); }, "no text to learn a vocabulary from");
  expect_error(
      [&] {
        train_tokenizer(texts, {.special_tokens = {"a", "a"}});
      },
      "expected valid UTF-8 and each token once");
  expect_error([&] { train_tokenizer(texts, {.pre_tokenizer = "none"}); }, "is not known");
  expect_error([&] { train_tokenizer(texts, {.min_frequency = -1}); }, "min_frequency is -1");
}

}  // namespace
}  // namespace heed::text
