// Every kind of tokenizer, against Python's `tokenizers` (tests/golden/tokenizers/make.py).
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

constexpr uint64_t kBlock = 16;  // lines that share a hash

uint64_t hash_of(std::string_view bytes, uint64_t state) {
  for (const char byte : bytes) state = (state ^ static_cast<uint8_t>(byte)) * 0x100000001B3u;
  return state;
}

uint64_t hash_at(const std::string& hashes, uint64_t index) {
  uint64_t hash = 0;
  std::memcpy(&hash, hashes.data() + index * sizeof(hash), sizeof(hash));
  return hash;
}

class TokenizerGolden : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerGolden, FirstLinesAreReadAsThePythonLibraryReadsThem) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const TokenizerLines lines(kGoldenTokenizers);
  const auto expected = parse_json(read_file(kGoldenTokenizers / "expected.json"), "expected.json");
  const auto& of_kind = expected.at(GetParam());
  for (size_t number = 0; number < of_kind.size(); ++number) {
    const auto ids = tokenizer.encode(lines.line(number));
    EXPECT_EQ(ids, of_kind[number].at("ids").get<std::vector<int32_t>>()) << "line " << number;
    EXPECT_EQ(tokenizer.decode(ids), of_kind[number].at("text").get<std::string>())
        << "line " << number;
  }
}

TEST_P(TokenizerGolden, AllLinesHaveTheIdsAndTheTextOfThePythonLibrary) {
  constexpr uint64_t kBasis = 0xCBF29CE484222325u;
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const TokenizerLines lines(kGoldenTokenizers);
  const std::string hashes = read_file(kGoldenTokenizers / (std::string(GetParam()) + ".hashes"));
  ASSERT_EQ(hashes.size(), TokenizerLines::kCount / kBlock * 16);
  // A build with sanitizers looks at every eighth block, for time.
  int wrong = 0;
  for (uint64_t block = 0; block < TokenizerLines::kCount / kBlock; block += kSanitized ? 8 : 1) {
    uint64_t of_ids = kBasis, of_text = kBasis;
    for (uint64_t number = block * kBlock; number < (block + 1) * kBlock; ++number) {
      auto ids = tokenizer.encode(lines.line(number));
      const std::string text = tokenizer.decode(ids);
      ASSERT_TRUE(is_valid_utf8(text));
      ids.push_back(-1);
      const auto* bytes = reinterpret_cast<const char*>(ids.data());
      of_ids = hash_of({bytes, ids.size() * sizeof(int32_t)}, of_ids);
      of_text = hash_of(text + '\n', of_text);
    }
    const bool same_ids = of_ids == hash_at(hashes, 2 * block);
    const bool same_text = of_text == hash_at(hashes, 2 * block + 1);
    if (same_ids && same_text) continue;
    if (++wrong > 5) continue;
    ADD_FAILURE() << "among lines " << block * kBlock << " to " << (block + 1) * kBlock - 1
                  << (same_ids ? " a decoded text differs" : " a list of ids differs");
  }
  EXPECT_EQ(wrong, 0) << "blocks of " << TokenizerLines::kCount / kBlock;
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerGolden, testing::ValuesIn(kTokenizerKinds),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace heed::text
