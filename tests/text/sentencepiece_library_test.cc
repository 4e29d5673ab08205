// heed splits texts itself, in bounded time; the SentencePiece library is the judge of the pieces.
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <filesystem>
#include <set>

#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/base/random.h"
#include "heed/interrupt.h"
#include "heed/text/sentencepiece.h"
#include "tests/base/cost.h"
#include "tests/text/protobuf_bytes.h"

namespace heed::text {
namespace {

using Bytes = SentencePieceBytes;

const std::filesystem::path kLibraryModels =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece";

struct NamedModel {
  std::string name, bytes;
};

void PrintTo(const NamedModel& model, std::ostream* out) { *out << model.name; }

/// Pieces over few letters, so that texts can be split in many ways; some share a score.
Bytes small_model(Bytes::Kind kind, uint64_t seed) {
  Bytes model(kind);
  model.piece("<s>", 0, Bytes::control).piece("</s>", 0, Bytes::control);
  const CounterRandom random(seed);
  const std::vector<std::string> letters{"a", "b", "c", "d", "é", "中", "\u2581"};
  std::set<std::string> taken;
  for (uint64_t i = 0; i < 60; ++i) {
    std::string text;
    const uint64_t count = 1 + random.below(100 * i, 5);
    for (uint64_t j = 0; j < count; ++j)
      text += letters[random.below(100 * i + j + 1, letters.size())];
    const auto score = static_cast<float>(random.below(100 * i + 50, 12)) * -0.7f - 1;
    const auto type = i % 9 == 4 && count > 1 ? Bytes::unused : Bytes::normal;
    if (taken.insert(text).second) model.piece(text, score, type);
  }
  for (const char* text : {"<br>", "ba\u2581b", "中é"})
    if (taken.insert(text).second) model.piece(text, 0, Bytes::user_defined);
  return model;
}

Bytes with_byte_pieces(Bytes model) {
  for (int byte = 0; byte < 256; ++byte)
    model.piece(fmt::format("<0x{:02X}>", byte), 0, Bytes::byte);
  return model.trainer(35, 1);
}

std::vector<NamedModel> library_models() {
  std::vector<NamedModel> all{{"golden_bpe", read_file(kLibraryModels / "bpe.model")},
                              {"golden_unigram", read_file(kLibraryModels / "unigram.model")}};
  const std::vector<std::string> kinds{"unigram", "bpe", "word", "character"};
  for (const auto kind : {Bytes::unigram, Bytes::bpe, Bytes::word, Bytes::character}) {
    const auto add = [&](const std::string& name, const Bytes& model) {
      all.push_back({kinds[kind - 1] + "_" + name, model.bytes});
    };
    const Bytes small = small_model(kind, kind);
    add("small", small);
    add("other", small_model(kind, kind + 10));
    add("bytes", with_byte_pieces(small));
    add("suffix", Bytes(small).trainer(24, 1));
    add("no_prefix", Bytes(small).normalizer(3, 0));
    add("all_spaces", Bytes(small).normalizer(4, 0));
    add("all_spaces_suffix", Bytes(small).normalizer(4, 0).trainer(24, 1));
    add("bare_spaces", Bytes(small).normalizer(5, 0));
  }
  return all;
}

/// Letters of the models, spaces of all kinds, unknown characters, malformed bytes.
std::string mixed_text(uint64_t seed) {
  static const std::vector<std::string> parts{"a",          "b",
                                              "c",          "d",
                                              "é",          "中",
                                              "ab",         "the ",
                                              "<br>",       "中é",
                                              "ba\u2581b",  " ",
                                              "  ",         "\u2581",
                                              "\t",         "\n",
                                              "\u3000",     "\u200b",
                                              "\ufb01",     "e\u0301",
                                              "x",          "语",
                                              "\U0001f600", "\xff",
                                              "\xe4\xb8",   std::string(1, '\0'),
                                              "<s>",        "</s>",
                                              "<unk>",      "<0x41>",
                                              "\ufffd",     "K",
                                              "\u2460",     "ﷺ"};
  const CounterRandom random(seed);
  std::string text;
  const uint64_t count = random.below(0, 40);
  for (uint64_t i = 0; i < count; ++i) text += parts[random.below(i + 1, parts.size())];
  return text;
}

class LibrarySegmentation : public testing::TestWithParam<NamedModel> {};

TEST_P(LibrarySegmentation, SplitsEveryTextIntoTheSamePieces) {
  sentencepiece::SentencePieceProcessor library;
  ASSERT_TRUE(library.LoadFromSerializedProto(GetParam().bytes).ok());
  const SentencePiece model = SentencePiece::from_bytes(GetParam().bytes);
  int compared = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = mixed_text(seed);
    std::vector<int> ids;
    std::vector<std::string> pieces;
    // It fails where a word is the name of a control piece.
    if (!library.Encode(text, &ids).ok() || !library.Encode(text, &pieces).ok()) continue;
    ++compared;
    ASSERT_EQ(model.encode(text), ids) << quoted(text);
    ASSERT_EQ(model.encode_pieces(text), pieces) << quoted(text);
  }
  EXPECT_GT(compared, 300);
}

TEST_P(LibrarySegmentation, StopsInTheMiddleOfATextWhenInterrupted) {
  const SentencePiece model = SentencePiece::from_bytes(GetParam().bytes);
  int questions = 0;
  const InterruptScope scope([&] { return ++questions > 1; }, std::chrono::milliseconds(0));
  EXPECT_THROW(model.encode(repeated("ab ", 20000)), Interrupted);
}

INSTANTIATE_TEST_SUITE_P(, LibrarySegmentation, testing::ValuesIn(library_models()),
                         [](const auto& test) { return test.param.name; });

/// The library takes the square of a run of unknown characters.
TEST(SegmentationTime, IsInProportionToTheText) {
  for (const char* name : {"unigram", "bpe"}) {
    const SentencePiece model =
        SentencePiece::load(kLibraryModels / (std::string(name) + ".model"));
    for (const std::string part : {"语", "ab"})
      expect_cheap([&] { model.encode(repeated(part, kHostileBytes / part.size())); }, 2, 600);
  }
}

TEST(LibraryDecoding, JoinsForeignPiecesInProportionToTheirNumber) {
  const SentencePiece model = SentencePiece::load(kLibraryModels / "unigram.model");
  expect_cheap(
      [&] { model.decode_pieces(std::vector<std::string>(kHostileBytes / 4, "\u2581语")); });
  EXPECT_EQ(model.decode_pieces({"\u2581语", "\u2581\u2581", "语\u2581"}), "语  语 ");
}

}  // namespace
}  // namespace heed::text
