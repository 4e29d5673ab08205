// Pairs of texts compared with Python's `tokenizers`. The expected ids come from
// tests/golden/encoders/make.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/text/tokenizer.h"

namespace heed::text {
namespace {

TEST(TokenizerPairs, IdsAndSegmentsWholeAndTruncatedEqualTheReference) {
  const std::filesystem::path golden = std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden";
  const auto expected = nlohmann::json::parse(read_file(golden / "encoders/pairs.json"));
  EXPECT_GE(expected.size(), 15u);
  for (const auto& [name, pairs] : expected.items()) {
    SCOPED_TRACE(name);
    const std::string file = (golden / "tokenizers" / (name + ".json")).string();
    const Tokenizer tokenizer = Tokenizer::from_json(nlohmann::json::parse(read_file(file)), file);
    for (const auto& pair : pairs) {
      const TypedIds found = tokenizer.encode_pair(
          pair["first"].get<std::string>(), pair["second"].get<std::string>(), pair["max_tokens"]);
      EXPECT_EQ(found.ids, pair["ids"].get<std::vector<int32_t>>()) << pair["max_tokens"];
      EXPECT_EQ(found.types, pair["types"].get<std::vector<int32_t>>()) << pair["max_tokens"];
    }
  }
}

}  // namespace
}  // namespace heed::text
