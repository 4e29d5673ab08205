// Damages tokenizer files, always in the same ways, and lets heed read them and cut a text:
// whatever a file holds, only heed::Error may come out. Most telling in a build with sanitizers.
#include <gtest/gtest.h>

#include <chrono>

#include "heed/base/random.h"
#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kAttempts = 400;
constexpr auto kTime = std::chrono::seconds(kSanitized ? 6 : 2);
const std::string kText = "In the naïve ①ｶﾞ e\u0301 漢字😀 [MASK] don't  12\n\xff<s>";

class Dice {
 public:
  explicit Dice(uint64_t stream) : random_(2017, stream) {}
  size_t below(size_t bound) { return bound ? random_.below(count_++, bound) : 0; }

 private:
  CounterRandom random_;
  uint64_t count_ = 0;
};

const std::vector<std::string> kNasty{"-1",
                                      "0",
                                      "2.5",
                                      "1e999",
                                      "2147483647",
                                      "9223372036854775807",
                                      "18446744073709551615",
                                      "null",
                                      "true",
                                      "\"\"",
                                      "\"a\"",
                                      "[]",
                                      "{}",
                                      "[[",
                                      "}",
                                      "\\",
                                      "\"",
                                      " ",
                                      "\n",
                                      "\\p{",
                                      "(?:",
                                      ")*",
                                      "{9",
                                      std::string(1, '\0'),
                                      "\xff\xff\xff\xff",
                                      "\xE2\x96",
                                      "\\u0000",
                                      "▁",
                                      "##"};

void damage_once(std::string& bytes, Dice& dice) {
  const size_t at = dice.below(bytes.size() + 1), length = dice.below(16);
  switch (dice.below(6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(dice.below(256));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, kNasty[dice.below(kNasty.size())]);
      break;
    case 4:
      bytes.insert(at, bytes.substr(dice.below(bytes.size() + 1), length));
      break;
    default:
      bytes.resize(at);
  }
}

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

/// Lets `attempt` do something with a damaged copy; it may throw Error.
template <typename Attempt>
void fuzz(const std::string& name, Attempt&& attempt) {
  int read = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t number = 0; number < kAttempts; ++number) {
    if (std::chrono::steady_clock::now() - start > kTime) break;
    Dice dice(number);
    try {
      attempt(number, dice);
      ++read;
    } catch (const Error& error) {
      ++refused;
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "attempt " << number << ": " << text;
      EXPECT_LT(text.size(), 2000u) << "attempt " << number;
      EXPECT_TRUE(is_valid_utf8(text)) << "attempt " << number;
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ", attempt " << number << ": " << error.what();
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

void use(const Tokenizer& tokenizer) {
  const auto ids = tokenizer.encode(kText);
  EXPECT_TRUE(is_valid_utf8(tokenizer.decode(ids)));
  DecodeStream stream(tokenizer);
  for (const int32_t id : ids) EXPECT_TRUE(is_valid_utf8(stream.feed(id)));
  EXPECT_TRUE(is_valid_utf8(stream.finish()));
}

size_t times(uint64_t number, Dice& dice) {
  // Mostly once: a file with one fault gets further than one with many.
  return number == 0 ? 0 : dice.below(4) ? 1 : 2 + dice.below(3);
}

class FuzzTokenizerJson : public testing::TestWithParam<const char*> {};

TEST_P(FuzzTokenizerJson, IsReadOrRefused) {
  const json whole = parse_json(read_file(kGoldenTokenizers / (std::string(GetParam()) + ".json")),
                                "tokenizer.json");
  fuzz(GetParam(), [&](uint64_t number, Dice& dice) {
    json damaged = whole;
    for (size_t i = times(number, dice); i > 0; --i) damage_tree(damaged, dice);
    use(Tokenizer::from_json(damaged, "tokenizer.json"));
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FuzzTokenizerJson,
                         testing::Values("llama3", "clip", "gemma2", "bert_uncased",
                                         "t5_not_legacy", "unigram_bytes", "word_level",
                                         "prefixed_bpe"));

/// Damages the bytes of one file of a directory.
void fuzz_file(const std::vector<std::pair<std::string, std::string>>& files, size_t damaged) {
  const TemporaryDirectory folder;
  for (const auto& [name, bytes] : files) write_quickly(folder / name, bytes);
  fuzz(files[damaged].first, [&](uint64_t number, Dice& dice) {
    std::string bytes = files[damaged].second;
    for (size_t i = times(number, dice); i > 0; --i) damage_once(bytes, dice);
    write_quickly(folder / files[damaged].first, bytes);
    use(Tokenizer::load(folder.path()));
  });
}

TEST(FuzzTokenizer, JsonBytes) {
  fuzz_file({{"tokenizer.json", read_file(kGoldenTokenizers / "deepseek_v2.json")}}, 0);
}

TEST(FuzzTokenizer, MergesTxt) {
  const json model =
      parse_json(read_file(kGoldenTokenizers / "gpt2.json"), "tokenizer.json")["model"];
  std::string merges;
  for (const auto& merge : model["merges"])
    merges += merge[0].get<std::string>() + ' ' + merge[1].get<std::string>() + '\n';
  fuzz_file({{"vocab.json", model["vocab"].dump()}, {"merges.txt", merges}}, 1);
}

TEST(FuzzTokenizer, VocabTxt) {
  const json model =
      parse_json(read_file(kGoldenTokenizers / "bert_uncased.json"), "tokenizer.json")["model"];
  std::vector<std::string> pieces(model["vocab"].size());
  for (const auto& [piece, id] : model["vocab"].items()) pieces[id.get<size_t>()] = piece;
  std::string text;
  for (size_t i = 0; i < 60; ++i) text += pieces[i] + '\n';
  fuzz_file({{"vocab.txt", text}}, 0);
}

TEST(FuzzTokenizer, SentencePieceModels) {
  const fs::path other = fs::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model";
  fuzz_file({{"tokenizer.model", read_file(other)}}, 0);
  fuzz_file({{"spiece.model", read_file(kGoldenTokenizers / "t5.model")}}, 0);
}

TEST(FuzzTokenizer, TokenizerConfig) {
  fuzz_file({{"tokenizer_config.json",
              R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "do_lower_case": false,
                  "added_tokens_decoder": {"3": {"content": "x", "special": true}}})"},
             {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n"}},
            0);
}

}  // namespace
}  // namespace heed::text
