// Damages tokenizer files, reads them and encodes a text.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/text/utf8.h"
#include "tests/base/fuzz.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kAttempts = 400;
const std::string kText = "In the naïve ①ｶﾞ e\u0301 漢字😀 [MASK] don't  12\n\xff<s>";

/// A value somewhere in a tree, not too deep in a vocabulary.
json& some_value(json& tree, Dice& dice) {
  json* value = &tree;
  while ((value->is_object() || value->is_array()) && !value->empty() && dice.below(6)) {
    auto next = value->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(dice.below(value->size())));
    value = &*next;
  }
  return *value;
}

void damage_tree(json& tree, Dice& dice) {
  const json nasty[] = {nullptr, -1,         1e300,       4294967296,    "",
                        "▁",     "\\p{L}+(", "(?<=a*)",   json::array(), json::object(),
                        true,    "Sequence", "ByteLevel", "BPE",         "Unigram"};
  json& value = some_value(tree, dice);
  switch (dice.below(3)) {
    case 0:
      value = nasty[dice.below(std::size(nasty))];
      break;
    case 1:
      value = json(some_value(tree, dice));
      break;
    default:
      if (value.is_object() && !value.empty()) value.erase(value.begin());
      if (value.is_array() && !value.empty()) value.erase(value.size() - 1);
  }
}

void use(const Tokenizer& tokenizer) {
  const auto ids = tokenizer.encode(kText);
  EXPECT_TRUE(is_valid_utf8(tokenizer.decode(ids)));
  for (const OffsetUnit unit : {OffsetUnit::bytes, OffsetUnit::code_points}) {
    const Encoding encoding = tokenizer.encode_with_offsets(kText, std::nullopt, {.offsets = unit});
    EXPECT_EQ(encoding.ids, ids);
    for (const TokenOffsets& place : encoding.offsets)
      EXPECT_LE(std::max(place.begin, place.end), kText.size());
  }
  DecodeStream stream(tokenizer);
  for (const int32_t id : ids) EXPECT_TRUE(is_valid_utf8(stream.feed(id)));
  EXPECT_TRUE(is_valid_utf8(stream.finish()));
}

class FuzzTokenizerJson : public testing::TestWithParam<const char*> {};

TEST_P(FuzzTokenizerJson, IsReadOrRefused) {
  const json whole = parse_json(read_file(kGoldenTokenizers / (std::string(GetParam()) + ".json")),
                                "tokenizer.json");
  fuzz(GetParam(), kAttempts, [&](uint64_t number, Dice& dice) {
    json damaged = whole;
    for (size_t i = mutation_count(number, dice); i > 0; --i) damage_tree(damaged, dice);
    use(Tokenizer::from_json(damaged, "tokenizer.json"));
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FuzzTokenizerJson,
                         testing::Values("llama3", "clip", "gemma2", "bert_uncased",
                                         "t5_not_legacy", "unigram_bytes", "word_level",
                                         "prefixed_bpe"));

/// Damages the bytes of one file of a directory.
void fuzz_directory(const std::vector<std::pair<std::string, std::string>>& files, size_t damaged) {
  const TemporaryDirectory folder;
  for (const auto& [name, bytes] : files) write_quickly(folder / name, bytes);
  fuzz_file(folder / files[damaged].first, files[damaged].second, kAttempts,
            [&] { use(Tokenizer::load(folder.path())); });
}

TEST(FuzzTokenizer, JsonBytes) {
  fuzz_directory({{"tokenizer.json", read_file(kGoldenTokenizers / "deepseek_v2.json")}}, 0);
}

TEST(FuzzTokenizer, MergesTxt) {
  const json model =
      parse_json(read_file(kGoldenTokenizers / "gpt2.json"), "tokenizer.json")["model"];
  std::string merges;
  for (const auto& merge : model["merges"])
    merges += merge[0].get<std::string>() + ' ' + merge[1].get<std::string>() + '\n';
  fuzz_directory({{"vocab.json", model["vocab"].dump()}, {"merges.txt", merges}}, 1);
}

TEST(FuzzTokenizer, VocabTxt) {
  const json model =
      parse_json(read_file(kGoldenTokenizers / "bert_uncased.json"), "tokenizer.json")["model"];
  std::vector<std::string> pieces(model["vocab"].size());
  for (const auto& [piece, id] : model["vocab"].items()) pieces[id.get<size_t>()] = piece;
  std::string text;
  for (size_t i = 0; i < 60; ++i) text += pieces[i] + '\n';
  fuzz_directory({{"vocab.txt", text}}, 0);
}

TEST(FuzzTokenizer, SentencePieceModels) {
  const fs::path other = fs::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model";
  fuzz_directory({{"tokenizer.model", read_file(other)}}, 0);
  fuzz_directory({{"spiece.model", read_file(kGoldenTokenizers / "t5.model")}}, 0);
  fuzz_directory({{"spm.model", read_file(kGoldenTokenizers / "t5.model")},
                  {"config.json", R"({"model_type": "deberta-v2"})"}},
                 0);
}

TEST(FuzzTokenizer, TokenizerConfig) {
  fuzz_directory({{"tokenizer_config.json",
                   R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "do_lower_case": false,
                  "added_tokens_decoder": {"3": {"content": "x", "special": true}}})"},
                  {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n"}},
                 0);
}

}  // namespace
}  // namespace heed::text
