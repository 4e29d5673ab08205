// Where tokens are in a text, compared with the offsets of `tokenizers`
// (tests/golden/tokenizers/offsets.py).
#include <gtest/gtest.h>

#include <cstring>

#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

using nlohmann::json;

const json& golden_offsets() {
  static const json all = json::parse(read_file(kGoldenTokenizers / "offsets.json"));
  return all;
}

json pairs_of(const std::vector<TokenOffsets>& offsets) {
  json pairs = json::array();
  for (const TokenOffsets& place : offsets) pairs.push_back({place.begin, place.end});
  return pairs;
}

class Offsets : public ::testing::TestWithParam<const char*> {};

TEST_P(Offsets, EqualThoseOfThePythonLibrary) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const json& expected = golden_offsets().at("kinds").at(GetParam());
  ASSERT_GE(expected.size(), 10u);
  for (size_t line = 0; line < expected.size(); ++line) {
    const std::string text = golden_offsets().at("lines")[line];
    const Encoding found = tokenizer.encode_with_offsets(
        text, std::nullopt, {.special = false, .offsets = OffsetUnit::code_points});
    EXPECT_EQ(found.ids, tokenizer.encode(text, false));
    EXPECT_EQ(pairs_of(found.offsets), expected[line]) << text;
  }
}

TEST_P(Offsets, OfRandomLinesEqualThoseOfThePythonLibrary) {
  constexpr uint64_t kBasis = 0xCBF29CE484222325u, kBlock = 120;  // as in offsets.py
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const TokenizerLines lines(kGoldenTokenizers);
  const json& hashes = golden_offsets().at("hashes").at(GetParam());
  ASSERT_EQ(hashes.size(), 50u);
  for (uint64_t block = 0; block < hashes.size(); block += kSanitized ? 8 : 1) {
    uint64_t hash = kBasis;
    const auto add = [&](size_t number) {
      const auto value = static_cast<int32_t>(number);
      uint8_t bytes[sizeof(value)];
      std::memcpy(bytes, &value, sizeof(value));
      for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
    };
    for (uint64_t number = block * kBlock; number < (block + 1) * kBlock; ++number) {
      const Encoding found = tokenizer.encode_with_offsets(
          lines.line(number), std::nullopt, {.special = false, .offsets = OffsetUnit::code_points});
      add(found.offsets.size());
      for (const TokenOffsets& place : found.offsets) {
        add(place.begin);
        add(place.end);
      }
    }
    EXPECT_EQ(fmt::format("{:016x}", hash), hashes[block].get<std::string>())
        << "among lines " << block * kBlock << " to " << (block + 1) * kBlock - 1;
  }
}

TEST_P(Offsets, OfTextsAndPairsWithSpecialTokensEqualThoseOfThePythonLibrary) {
  static const json all = json::parse(read_file(kGoldenTokenizers / "encodings.json"));
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  for (const json& expected : all.at(GetParam())) {
    const json& texts = expected["texts"];
    const std::string first = texts[0];
    std::optional<std::string> second;
    if (texts.size() > 1) second = texts[1].get<std::string>();
    const Encoding found = tokenizer.encode_with_offsets(first, second,
                                                         {.special = expected["special"],
                                                          .max_tokens = expected["max_tokens"],
                                                          .offsets = OffsetUnit::code_points});
    SCOPED_TRACE(texts.dump() + (expected["special"] ? " special " : " plain ") +
                 expected["max_tokens"].dump());
    EXPECT_EQ(json(found.ids), expected["ids"]);
    EXPECT_EQ(json(found.type_ids), expected["types"]);
    EXPECT_EQ(json(found.sequence_ids), expected["sequences"]);
    EXPECT_EQ(pairs_of(found.offsets), expected["offsets"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Offsets, ::testing::ValuesIn(kTokenizerKinds),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(OffsetsInBytes, CutTheTextAtTokens) {
  const std::string text = "Caf\u00E9 \u4E2D\u6587";
  const Encoding found =
      golden_tokenizer("bert_uncased").encode_with_offsets(text, std::nullopt, {.special = false});
  std::string joined;
  for (const TokenOffsets& place : found.offsets)
    joined += text.substr(place.begin, place.end - place.begin) + '|';
  EXPECT_EQ(joined.back(), '|');
  EXPECT_TRUE(joined.starts_with("Ca|f|\u00E9|") || joined.starts_with("Caf\u00E9|") ||
              joined.starts_with("Ca|f\u00E9|"))
      << joined;
  EXPECT_TRUE(joined.ends_with("\u4E2D|\u6587|") || joined.ends_with("\u4E2D\u6587|")) << joined;
}

TEST(OffsetsInBytes, OfMalformedTextAreThoseOfItsOwnBytes) {
  // The library reads "a", U+FFFD for the first two bytes of three, U+FFFD for 0xFF, "b".
  const std::string text =
      "a\xE2\x82\xFF"
      "b";
  const Tokenizer tokenizer = golden_tokenizer("gpt2");
  const auto places = [&](OffsetUnit unit) {
    std::vector<std::pair<size_t, size_t>> distinct;
    for (const TokenOffsets& place :
         tokenizer.encode_with_offsets(text, std::nullopt, {.special = false, .offsets = unit})
             .offsets)
      if (distinct.empty() || distinct.back() != std::pair(place.begin, place.end))
        distinct.emplace_back(place.begin, place.end);
    return distinct;
  };
  using Places = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(places(OffsetUnit::bytes), (Places{{0, 1}, {1, 3}, {3, 4}, {4, 5}}));
  EXPECT_EQ(places(OffsetUnit::code_points), (Places{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST(OffsetsOfBytePieces, LeaveOutTextThatSpellsTheirNames) {
  json pieces = json::array();
  for (const auto& [piece, score] :
       std::initializer_list<std::pair<const char*, int>>{{"<unk>", 0},
                                                          {"a", -1},
                                                          {"b", -1},
                                                          {"<0x41>", -5},
                                                          {"<0xE4>", -5},
                                                          {"<0xB8>", -5},
                                                          {"<0xAD>", -5}})
    pieces.push_back(json::array({piece, score}));
  const Tokenizer tokenizer = Tokenizer::from_json(
      {{"model", {{"type", "Unigram"}, {"vocab", pieces}, {"unk_id", 0}, {"byte_fallback", true}}}},
      "tokenizer.json");
  const auto found = [&](std::string_view text) {
    return pairs_of(tokenizer
                        .encode_with_offsets(text, std::nullopt,
                                             {.special = false, .offsets = OffsetUnit::code_points})
                        .offsets)
        .dump();
  };
  // As `tokenizers` 0.23 has them.
  EXPECT_EQ(found("<0x41>Aa"), "[[0,6],[6,7],[7,8]]");
  EXPECT_EQ(found("A<0x41>"), "[[0,1],[1,7]]");
  EXPECT_EQ(found("AA"), "[[0,2],[0,2]]");
  EXPECT_EQ(found("<0x41><0x41>"), "[[0,6],[6,12]]");
  EXPECT_EQ(found("a中<0x41>中b"), "[[0,1],[1,2],[1,2],[1,2],[2,8],[8,9],[8,9],[8,9],[9,10]]");
}

TEST(OffsetsOfAnEmptyText, AreThoseOfSpecialTokens) {
  const Encoding found = golden_tokenizer("bert_uncased").encode_with_offsets("", std::nullopt, {});
  EXPECT_EQ(found.offsets, (std::vector<TokenOffsets>{{0, 0}, {0, 0}}));
  EXPECT_EQ(found.sequence_ids, (std::vector<int32_t>{-1, -1}));
  EXPECT_TRUE(golden_tokenizer("gpt2").encode_with_offsets("", std::nullopt, {}).ids.empty());
}

}  // namespace
}  // namespace heed::text
