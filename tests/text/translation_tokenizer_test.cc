#include "heed/text/translation_tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::text {
namespace {

const std::filesystem::path kSentencePieceFiles =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece";
const std::string kLine = "The old sailor forgot the lighthouse.";

/// A model directory that goes away with the test.
class TranslationTokenizerFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("heed_translation_tokenizer_") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(directory_);
    for (const auto& [name, contents] : shared().files()) write(name, contents);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static TranslationTokenizer shared() {
    return TranslationTokenizer::shared(SentencePiece::load(kSentencePieceFiles / "bpe.model"));
  }
  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(directory_ / name, std::ios::binary) << contents;
  }
  std::string error_with_vocabulary(const std::string& vocabulary) const {
    write("vocab.json", vocabulary);
    try {
      TranslationTokenizer::load(directory_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path directory_;
};

TEST_F(TranslationTokenizerFiles, ReadBackGiveTheSameTokens) {
  const TranslationTokenizer written = shared(), read = TranslationTokenizer::load(directory_);
  ASSERT_EQ(read.vocab_size(), written.vocab_size());
  for (int32_t token = 0; token < read.vocab_size(); ++token)
    EXPECT_EQ(read.piece(token), written.piece(token));
  EXPECT_EQ(read.encode_source(kLine), written.encode_source(kLine));
  EXPECT_EQ(read.files(), written.files());
}

TEST_F(TranslationTokenizerFiles, EncodeWithEndOfSequenceAndDecodeWithoutIt) {
  const TranslationTokenizer tokenizer = shared();
  const std::vector<int32_t> tokens = tokenizer.encode_target(kLine);
  EXPECT_EQ(tokenizer.piece(tokens.back()), "</s>");
  EXPECT_EQ(tokenizer.decode_target(tokens), kLine);
  EXPECT_EQ(tokenizer.encode_source("").size(), 1u);
}

TEST_F(TranslationTokenizerFiles, HaveTheLanguagesOfTheirVocabulary) {
  const auto pieces = SentencePiece::load(kSentencePieceFiles / "bpe.model");
  const auto begin_of = [&](const LanguagePair& languages) {
    const auto read = TranslationTokenizer::load(directory_);
    const std::vector<int32_t> plain = read.encode_source(kLine),
                               tokens = read.encode_source(kLine, languages);
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), tokens.end() - std::ssize(plain)));
    EXPECT_EQ(read.encode_target(kLine, languages), read.encode_target(kLine));
    EXPECT_EQ(read.start_of_target(languages, 0, -1), std::vector{0});
    EXPECT_EQ(read.decode_target(tokens), kLine);
    std::vector<std::string> names;
    for (size_t i = 0; i + plain.size() < tokens.size(); ++i) {
      names.push_back(read.piece(tokens[i]));
      EXPECT_TRUE(read.is_special(tokens[i]));
    }
    return names;
  };
  using Names = std::vector<std::string>;
  const auto use = [&](const TranslationTokenizer& tokenizer) {
    for (const auto& [name, contents] : tokenizer.files()) write(name, contents);
  };
  use(TranslationTokenizer::shared(pieces, {"de", "es"}));
  EXPECT_EQ(begin_of({"", "es"}), (Names{">>es<<"}));
  EXPECT_EQ(TranslationTokenizer::load(directory_).languages().layout(),
            LanguageTokens::Layout::target_in_source);
  use(TranslationTokenizer::shared(pieces, {"de", "es"}, {"en", "es"}));
  EXPECT_EQ(begin_of({"en", "es"}), (Names{">>es<<", "<<en>>"}));
  EXPECT_EQ(begin_of({"es", "de"}), (Names{">>de<<", "<<es>>"}));
  const auto both = TranslationTokenizer::load(directory_);
  EXPECT_EQ(names_of(both.languages().codes()), (Names{"de", "es"}));
  EXPECT_EQ(names_of(both.languages().source_codes()), (Names{"en", "es"}));
  EXPECT_EQ(both.vocab_size(), shared().vocab_size() + 4);
  EXPECT_THROW(both.encode_source(kLine, {"de", "es"}), InputError) << "de is no source";
  EXPECT_THROW(both.encode_source(kLine, {"", "es"}), InputError);
  EXPECT_THROW(both.encode_source(kLine, {"en", ""}), InputError);
}

TEST_F(TranslationTokenizerFiles, NumberPiecesAsTheVocabularyDoes) {
  const SentencePiece model = SentencePiece::load(kSentencePieceFiles / "bpe.model");
  std::string vocabulary = "{";
  for (int32_t id = 0; id < model.vocab_size(); ++id)
    vocabulary += fmt::format("{}\"{}\": {}", id == 0 ? "" : ", ",
                              model.piece(id) == "\"" ? "\\\"" : model.piece(id),
                              model.vocab_size() - 1 - id);
  write("vocab.json", vocabulary + "}");
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(directory_);
  std::vector<int32_t> expected = model.encode(kLine);
  expected.push_back(model.eos_id());
  for (int32_t& id : expected) id = model.vocab_size() - 1 - id;
  EXPECT_EQ(tokenizer.encode_source(kLine), expected);
  EXPECT_EQ(tokenizer.decode_target(expected), kLine);
}

TEST_F(TranslationTokenizerFiles, AreRefusedWhenBroken) {
  const std::string file = (directory_ / "vocab.json").string();
  EXPECT_EQ(error_with_vocabulary("[]"), file + ": expected an object of pieces");
  EXPECT_EQ(error_with_vocabulary("{}"), file + ": expected an object of pieces");
  EXPECT_EQ(error_with_vocabulary("{\"a\": 7, \"b\": 0}"),
            file + ": \"a\" has the id 7, expected 0 to 1");
  EXPECT_EQ(error_with_vocabulary("{\"a\": 0, \"b\": 0}"),
            file + ": \"a\" and \"b\" both have the id 0");
  EXPECT_EQ(error_with_vocabulary("{\"a\": 0, \"b\": 1}"),
            "the vocabulary has no </s> or no <unk>");
  EXPECT_NE(error_with_vocabulary("{\"a\": \"x\"}").find(file), std::string::npos);
  EXPECT_NE(error_with_vocabulary("{\"a").find(file), std::string::npos);
  std::filesystem::remove(directory_ / "source.spm");
  EXPECT_NE(error_with_vocabulary("{}").find("source.spm"), std::string::npos);
}

TEST_F(TranslationTokenizerFiles, LeaveOutTokensWithoutAPiece) {
  const TranslationTokenizer tokenizer = shared();
  const auto size = static_cast<int32_t>(tokenizer.vocab_size());
  EXPECT_THROW(tokenizer.piece(size), Error);
  EXPECT_THROW(tokenizer.decode_target(std::vector<int32_t>{-1}), Error);
  // A model may have more rows than pieces.
  EXPECT_EQ(tokenizer.decode_target(std::vector<int32_t>{size}), "");
}

}  // namespace
}  // namespace heed::text
