#include "heed/checkpoint/gguf/end_tokens.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "tests/base/testing.h"
#include "tests/io/gguf_bytes.h"

namespace heed::checkpoint {
namespace {

using io::GgufBytes;
using io::GgufType;

using Ids = std::vector<int64_t>;

/// The end tokens of a file with these pieces, and ids by their role.
Ids end_tokens(const std::vector<std::string>& pieces,
               const std::vector<std::pair<std::string, uint32_t>>& roles = {}) {
  std::string list = GgufBytes::number(static_cast<uint32_t>(GgufType::string)) +
                     GgufBytes::number(uint64_t{pieces.size()});
  for (const std::string& piece : pieces) list += GgufBytes::text(piece);
  GgufBytes file;
  file.value("tokenizer.ggml.tokens", GgufType::array, list);
  for (const auto& [role, id] : roles)
    file.value("tokenizer.ggml." + role + "_token_id", GgufType::u32, GgufBytes::number(id));
  const TemporaryDirectory folder;
  write_quickly(folder / "vocabulary.gguf", file.bytes());
  return gguf_end_tokens(io::GgufMetadata::open(folder / "vocabulary.gguf"));
}

TEST(GgufEndTokens, AreThoseOfTheFilesRoles) {
  EXPECT_EQ(end_tokens({"a", "b", "c", "d"}, {{"eos", 3}, {"eot", 1}, {"eom", 2}}), (Ids{1, 2, 3}));
}

TEST(GgufEndTokens, AreFoundByTheirText) {
  EXPECT_EQ(end_tokens({"a", "<|eot_id|>", "<|im_end|>", "im_end", "<end_of_turn>"}),
            (Ids{1, 2, 4}));
  EXPECT_EQ(end_tokens({"<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"}), (Ids{0, 1, 2}));
  EXPECT_EQ(end_tokens({"<|fim_pad|>", "x"}, {{"fim_pad", 1}}), Ids{1});
}

TEST(GgufEndTokens, LeaveOutWhatDoesNotEndATextOfTheVocabulary) {
  EXPECT_EQ(end_tokens({"<|end|>", "<|return|>", "<|call|>"}), (Ids{1, 2}));
  EXPECT_EQ(end_tokens({"</s>", "<|tool_response>"}), Ids{1});
  EXPECT_EQ(end_tokens({"<|end|>", "</s>"}), (Ids{0, 1}));
}

TEST(GgufEndTokens, LeaveOutIdsOutsideTheVocabulary) {
  EXPECT_EQ(end_tokens({"a", "b"}, {{"eot", 7}, {"eom", 0xFFFFFFFF}, {"eos", 1}}), Ids{1});
  EXPECT_EQ(end_tokens({}), Ids{});
}

}  // namespace
}  // namespace heed::checkpoint
