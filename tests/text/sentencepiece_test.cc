#include "heed/text/sentencepiece.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/base/random.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"
#include "tests/text/protobuf_bytes.h"

namespace heed::text {
namespace {

using Kind = SentencePiece::TrainOptions::Kind;

const std::filesystem::path kGolden =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece";

std::vector<std::string> sentences() {
  const std::vector<std::string> who{"The old sailor", "A young painter", "Der alte Bäcker"};
  const std::vector<std::string> what{"forgot the lighthouse", "malte einen Leuchtturm",
                                      "counted geese"};
  std::vector<std::string> all;
  for (int day = 1; day <= 28; ++day)
    for (const std::string& subject : who)
      for (const std::string& rest : what)
        all.push_back(subject + " " + rest + ", " + std::to_string(day) + " times.");
  return all;
}

SentencePiece trained(Kind kind, int vocab_size) {
  return SentencePiece::train(sentences(), {.kind = kind, .vocab_size = vocab_size});
}

class SentencePieceGolden : public testing::TestWithParam<std::string> {};

TEST_P(SentencePieceGolden, EncodesAndDecodesLikePython) {
  const SentencePiece model = SentencePiece::load(kGolden / (GetParam() + ".model"));
  const auto expected = nlohmann::json::parse(read_file(kGolden / "expected.json"))[GetParam()];
  ASSERT_EQ(static_cast<size_t>(model.vocab_size()), expected["pieces"].size());
  for (int32_t id = 0; id < model.vocab_size(); ++id)
    EXPECT_EQ(model.piece(id), expected["pieces"][static_cast<size_t>(id)]);
  for (const auto& line : expected["lines"]) {
    const auto text = line["text"].get<std::string>();
    const auto ids = line["ids"].get<std::vector<int32_t>>();
    EXPECT_EQ(model.encode(text), ids) << text;
    EXPECT_EQ(model.decode(ids), line["decoded"]) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(, SentencePieceGolden, testing::Values("bpe", "unigram"),
                         [](const auto& test) { return test.param; });

class SentencePieceTrain : public testing::TestWithParam<Kind> {};

TEST_P(SentencePieceTrain, GivesSpecialPiecesTheirDocumentedIds) {
  const SentencePiece model = trained(GetParam(), 50);
  EXPECT_EQ(model.vocab_size(), 50);
  EXPECT_EQ(model.pad_id(), 0);
  EXPECT_EQ(model.eos_id(), 1);
  EXPECT_EQ(model.unk_id(), 2);
  EXPECT_EQ(model.piece(0), "<pad>");
  EXPECT_EQ(model.piece(1), "</s>");
  EXPECT_EQ(model.piece(2), "<unk>");
  EXPECT_EQ(model.id_of("</s>"), 1);
  EXPECT_EQ(model.id_of("<s>"), model.unk_id());
  for (int32_t id = 0; id < model.vocab_size(); ++id) EXPECT_EQ(model.id_of(model.piece(id)), id);
}

TEST_P(SentencePieceTrain, GivesTheSameBytesTwice) {
  EXPECT_EQ(trained(GetParam(), 90).serialized(), trained(GetParam(), 90).serialized());
}

TEST_P(SentencePieceTrain, RoundTripsItsOwnText) {
  const SentencePiece model = trained(GetParam(), 90);
  for (const std::string& sentence : sentences())
    EXPECT_EQ(model.decode(model.encode(sentence)), sentence);
}

TEST_P(SentencePieceTrain, GivesFewerPiecesWhenTextIsSmall) {
  const SentencePiece model = trained(GetParam(), 30000);
  EXPECT_LT(model.vocab_size(), 2000);
  EXPECT_GT(model.vocab_size(), 50);
}

TEST_P(SentencePieceTrain, SurvivesWordsBeyondTheLibrarysLimit) {
  std::string giant;
  for (int i = 0; i < 30000; ++i) giant += "ab\u00e9";
  const SentencePiece model =
      SentencePiece::train({giant, "some words"}, {.kind = GetParam(), .vocab_size = 60});
  EXPECT_GT(model.vocab_size(), 10);
}

TEST_P(SentencePieceTrain, ReadsBackWhatItSerialised) {
  const SentencePiece model = trained(GetParam(), 90);
  const auto path = std::filesystem::path(testing::TempDir()) / "heed_sentencepiece_test.model";
  std::ofstream(path, std::ios::binary) << model.serialized();
  const SentencePiece again = SentencePiece::load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(again.serialized(), model.serialized());
  EXPECT_EQ(again.encode("The old painter"), model.encode("The old painter"));
}

TEST_P(SentencePieceTrain, CutsALineOfAMegabyteInReasonableTime) {
  const SentencePiece model = trained(GetParam(), 90);
  const std::vector<std::string> texts = sentences();
  std::string line;
  for (size_t i = 0; line.size() < 1'000'000; ++i) line += texts[i % texts.size()] + " ";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(model.encode(line).size(), 100'000u);
  EXPECT_EQ(model.encode(std::string(1'000'000, 'e')).size(), 1'000'001u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

INSTANTIATE_TEST_SUITE_P(, SentencePieceTrain, testing::Values(Kind::bpe, Kind::unigram),
                         [](const auto& test) {
                           return test.param == Kind::bpe ? "bpe" : "unigram";
                         });

TEST(SentencePiece, NormalisesByNmtNfkc) {
  const SentencePiece model =
      SentencePiece::train({"fine 12 ABC gh ijk lmn opq rst uvw xyz K\u00e9", "one fine day"}, {});
  const auto normalised = [&](std::string_view text) { return model.decode(model.encode(text)); };
  EXPECT_EQ(normalised("\ufb01ne"), "fine");
  EXPECT_EQ(normalised("\uff21\uff22\uff23\u3000\u2460\u2461"), "ABC 12");
  EXPECT_EQ(normalised("Ke\u0301"), "K\u00e9");
  EXPECT_EQ(normalised("\t one \u00a0 day\r\n"), "one day");
  EXPECT_EQ(normalised("o\u200bne"), "o ne");
}

TEST(SentencePiece, SamplesSentencesByTheSeed) {
  const auto with = [](int64_t most, uint64_t seed) {
    return SentencePiece::train(sentences(),
                                {.vocab_size = 300, .max_sentences = most, .seed = seed})
        .serialized();
  };
  EXPECT_EQ(with(20, 1), with(20, 1));
  EXPECT_NE(with(20, 1), with(20, 2));
  EXPECT_EQ(with(1'000'000, 1), with(1'000'000, 2));
}

TEST(SentencePiece, ReadsNamesOfSpecialPiecesAsText) {
  const SentencePiece model = trained(Kind::bpe, 90);
  for (const int32_t id : model.encode("</s> <pad> a </s>")) {
    EXPECT_NE(id, model.eos_id());
    EXPECT_NE(id, model.pad_id());
  }
}

TEST(SentencePiece, LeavesOutSpecialPiecesWhenJoining) {
  const SentencePiece model = trained(Kind::bpe, 90);
  std::vector<int32_t> ids = model.encode("The old sailor");
  ids.insert(ids.begin(), {model.pad_id(), model.eos_id()});
  ids.insert(ids.begin() + 4, model.eos_id());
  ids.push_back(model.eos_id());
  EXPECT_EQ(model.decode(ids), "The old sailor");
  EXPECT_EQ(model.decode({}), "");
  EXPECT_EQ(model.decode(std::vector<int32_t>{model.unk_id()}), " \u2047 ");
}

TEST(SentencePiece, ShowsPiecesOfALine) {
  const SentencePiece model = trained(Kind::bpe, 90);
  std::string joined;
  for (const std::string& piece : model.encode_pieces("The old sailor")) joined += piece;
  EXPECT_EQ(joined, "\u2581The\u2581old\u2581sailor");
}

TEST(SentencePiece, TakesAnyBytes) {
  const SentencePiece model = trained(Kind::unigram, 90);
  EXPECT_TRUE(model.encode("").empty());
  EXPECT_TRUE(model.encode(" \t\n").empty());
  EXPECT_FALSE(model.encode("\xff\xc3\x28 old").empty());
  EXPECT_FALSE(model.encode(std::string_view("old\0sailor", 10)).empty());
}

TEST(SentencePiece, IsSharedByThreads) {
  const SentencePiece model = trained(Kind::bpe, 90);
  const std::vector<int32_t> expected = model.encode("A young painter counted geese");
  std::vector<int> equal(8);
  std::vector<std::thread> threads;
  for (int& count : equal)
    threads.emplace_back([&, copy = model] {
      for (int i = 0; i < 500; ++i)
        count += copy.encode("A young painter counted geese") == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(8, 500));
}

TEST(SentencePiece, ReportsWhatIsWrong) {
  const auto train = [](std::vector<std::string> text, SentencePiece::TrainOptions options) {
    return error_of([&] { SentencePiece::train(text, options); });
  };
  EXPECT_EQ(train({"", " \t"}, {}),
            "no text to learn a vocabulary from: 2 sentences, all of them empty or blank");
  EXPECT_EQ(train({"a"}, {.vocab_size = 3}),
            "a vocabulary of 3 pieces is too small, expected at least 4");
  EXPECT_EQ(train({"a"}, {.character_coverage = 1.5}),
            "character coverage is 1.5, expected more than 0 and at most 1");
  EXPECT_EQ(train({"a"}, {.max_sentences = 0}), "max_sentences is 0, expected at least 1");
  EXPECT_EQ(train({"abc", "def"}, {.vocab_size = 5})
                .find("cannot learn a vocabulary of 5 pieces from 2 sentences: Vocabulary size is"),
            0u);
  EXPECT_NE(
      error_of([] { SentencePiece::load("/missing/source.spm"); }).find("/missing/source.spm"),
      std::string::npos);
  EXPECT_EQ(error_of([] { SentencePiece::from_bytes("", "x.model"); }),
            "x.model is empty, expected a SentencePiece model");
  EXPECT_EQ(error_of([] { SentencePiece::from_bytes("hello", "x.model"); }),
            "x.model is not a SentencePiece model: it is not a protocol-buffer message");
  const SentencePiece model = trained(Kind::bpe, 90);
  EXPECT_EQ(error_of([&] { model.piece(90); }), "piece 90 is outside the vocabulary of 90");
  EXPECT_EQ(error_of([&] {
              model.decode(std::vector<int32_t>{3, -1});
            }),
            "piece -1 is outside the vocabulary of 90");
}

TEST(SentencePiece, TextThatIsBlankOnceNormalisedIsRefused) {
  const std::vector<std::string> blank{"",       " \t\n\r", "\u00a0", "\u3000", "\u200b", "\ufeff",
                                       "\u2028", "\u1680",  "\u200e", "\u2581", "\x01",   "\x7f",
                                       "\x0b",   "\x1f",    "\ufffd", "\u202f", "\u205f", "\u2009"};
  for (const Kind kind : {Kind::bpe, Kind::unigram}) {
    const auto outcome = [&](const std::vector<std::string>& sentences, int64_t max_sentences) {
      return in_child([&] {
        return error_of([&] {
          SentencePiece::train(sentences,
                               {.kind = kind, .vocab_size = 90, .max_sentences = max_sentences});
        });
      });
    };
    const std::string refused = " sentences, all of them empty or blank";
    for (const std::string& text : blank)
      EXPECT_EQ(outcome({text}, 100), "no text to learn a vocabulary from: 1" + refused);
    EXPECT_EQ(outcome(blank, 100), "no text to learn a vocabulary from: 18" + refused);
    // What counts is the sample that is learned from.
    std::vector<std::string> mostly_blank(1000, "\u3000");
    mostly_blank.push_back("a");
    EXPECT_EQ(outcome(mostly_blank, 1), "no text to learn a vocabulary from: 1" + refused);
    for (const std::string text : {"a", "\u3000a", "\u00ad", "\u0300", "\u200d", "\xff"})
      EXPECT_EQ(outcome({text}, 100), "no error") << quoted(text);
  }
}

TEST(SentencePiece, AModelThatFailsItsOwnTestIsRefusedWithTheReason) {
  const TemporaryDirectory folder;
  // What the library would print goes to standard error.
  const auto load = [&](const SentencePieceBytes& model) {
    return in_child([&]() -> std::string {
      if (std::freopen((folder / "stderr").c_str(), "w", stderr) == nullptr) return "no file";
      const std::string error =
          error_of([&] { SentencePiece::from_bytes(model.bytes, "x.model"); });
      std::fflush(stderr);
      return error + read_file(folder / "stderr");
    });
  };
  for (const auto kind : {SentencePieceBytes::bpe, SentencePieceBytes::unigram,
                          SentencePieceBytes::word, SentencePieceBytes::character}) {
    const auto with_sample = [&](const std::string& expected) {
      SentencePieceBytes model(kind);
      return model.piece("\u2581", -1).piece("a", -1).piece("\u2581a", -2).sample("a", expected);
    };
    const std::string error = load(with_sample("\x1b[2J\n"));
    EXPECT_TRUE(
        error.starts_with("x.model is not a usable SentencePiece model: it fails its own "
                          "test: \"a\" becomes"))
        << error;
    EXPECT_TRUE(error.ends_with(R"(expected "\u001b[2J\n")")) << error;
    const bool whole = kind != SentencePieceBytes::character;
    EXPECT_EQ(load(with_sample(whole ? "\u2581a" : "\u2581 a")), "no error");
  }
  // Pieces of the same score are as good.
  SentencePieceBytes unigram(SentencePieceBytes::unigram);
  unigram.piece("\u2581", -1).piece("a", -1).piece("\u2581a", -2).sample("a", "\u2581 a");
  EXPECT_EQ(load(unigram), "no error");
}

/// A model with some of its bytes changed, or cut off.
std::string damaged(std::string model, uint64_t round) {
  const CounterRandom random(7, round);
  if (round % 8 == 0) model.resize(random.below(0, model.size()));
  const uint64_t changes = 1 + random.below(1, round % 8 == 1 ? 200 : 4);
  for (uint64_t i = 0; i < changes && !model.empty(); ++i)
    model[random.below(2 * i + 2, model.size())] = static_cast<char>(random.bits(2 * i + 3));
  return model;
}

TEST(SentencePiece, RefusesOrUsesADamagedModelButNeverCrashes) {
  std::string everything;
  for (int byte = 0; byte < 256; ++byte) everything += {static_cast<char>(byte), ' ', 'a'};
  for (const std::string kind : {"bpe", "unigram"}) {
    const std::string good = read_file(kGolden / (kind + ".model"));
    const std::string large = trained(kind == "bpe" ? Kind::bpe : Kind::unigram, 90).serialized();
    int refused = 0;
    for (uint64_t round = 0; round < 120; ++round) try {
        const SentencePiece model =
            SentencePiece::from_bytes(damaged(round % 4 == 3 ? large : good, round));
        const std::vector<int32_t> ids = model.encode("\ufb01ne caf\u0065\u0301 " + everything);
        model.decode(ids);
      } catch (const Error&) {
        ++refused;
      }
    EXPECT_GT(refused, 12);
    EXPECT_LT(refused, 115);
  }
}

}  // namespace
}  // namespace heed::text
