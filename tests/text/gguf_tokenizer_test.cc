#include "heed/text/gguf/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/io/gguf/gguf_file.h"
#include "heed/text/pre_tokenizers/named_patterns.h"
#include "heed/text/regex/regex.h"
#include "tests/io/gguf_bytes.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

using io::GgufBytes;
using io::GgufType;
using nlohmann::json;

std::string texts(const std::vector<std::string>& values) {
  std::string bytes = GgufBytes::number(static_cast<uint32_t>(GgufType::string)) +
                      GgufBytes::number(uint64_t{values.size()});
  for (const std::string& value : values) bytes += GgufBytes::text(value);
  return bytes;
}

/// The byte-level tokenizer of a golden file as a GGUF file holds it.
GgufBytes gguf_of(const std::string& kind, const std::string& split) {
  const json whole = parse_json(read_file(kGoldenTokenizers / (kind + ".json")), kind);
  const json& model = whole["model"];
  std::vector<std::string> pieces(model["vocab"].size()), merges;
  for (const auto& [piece, id] : model["vocab"].items()) pieces[id.get<size_t>()] = piece;
  for (const auto& merge : model["merges"])
    merges.push_back(merge[0].get<std::string>() + ' ' + merge[1].get<std::string>());
  std::vector<int32_t> types(pieces.size(), 1);
  for (const auto& token : whole["added_tokens"]) types[token["id"].get<size_t>()] = 3;
  std::string type_bytes = GgufBytes::number(static_cast<uint32_t>(GgufType::i32)) +
                           GgufBytes::number(uint64_t{types.size()});
  for (const int32_t type : types) type_bytes += GgufBytes::number(type);
  GgufBytes bytes;
  bytes.value("tokenizer.ggml.model", GgufType::string, GgufBytes::text("gpt2"))
      .value("tokenizer.ggml.pre", GgufType::string, GgufBytes::text(split))
      .value("tokenizer.ggml.tokens", GgufType::array, texts(pieces))
      .value("tokenizer.ggml.merges", GgufType::array, texts(merges))
      .value("tokenizer.ggml.token_type", GgufType::array, type_bytes)
      .value("tokenizer.ggml.bos_token_id", GgufType::u32, GgufBytes::number(uint32_t{0}));
  return bytes;
}

Tokenizer read(const GgufBytes& bytes) {
  const TemporaryDirectory folder;
  write_quickly(folder / "model.gguf", bytes.bytes());
  return read_gguf_tokenizer(io::GgufFile::open(folder / "model.gguf")->metadata(), "model.gguf");
}

TEST(GgufTokenizer, TokenizesLikeTheSameVocabularyInOtherFiles) {
  const TokenizerLines lines(kGoldenTokenizers);
  for (const auto& [kind, split] : {std::pair("gpt2", "gpt-2"), std::pair("llama3", "llama-bpe"),
                                    std::pair("deepseek_v3", "deepseek-v3")}) {
    const Tokenizer golden = golden_tokenizer(kind), tokenizer = read(gguf_of(kind, split));
    for (uint64_t number = 0; number < 2000; ++number) {
      const auto ids = tokenizer.encode(lines.line(number));
      ASSERT_EQ(ids, golden.encode(lines.line(number))) << kind << ", line " << number;
      ASSERT_EQ(tokenizer.decode(ids), golden.decode(ids)) << kind << ", line " << number;
    }
    EXPECT_EQ(tokenizer.special_tokens().bos, 0);
    EXPECT_EQ(tokenizer.files().at(0).first, "tokenizer.json");
  }
}

TEST(GgufTokenizer, NamesTheTokensForFillingInTheMiddle) {
  GgufBytes bytes = gguf_of("gpt2", "gpt-2");
  uint32_t id = 5;
  for (const char* role : {"fim_pre", "suffix", "fim_mid", "fim_rep", "fim_sep"})
    bytes.value(std::string("tokenizer.ggml.") + role + "_token_id", GgufType::u32,
                GgufBytes::number(id++));
  const FillInMiddleTokens tokens = read(bytes).fill_in_middle();
  EXPECT_EQ(tokens.prefix, 5);
  EXPECT_EQ(tokens.suffix, 6);
  EXPECT_EQ(tokens.middle, 7);
  EXPECT_EQ(tokens.repository, 8);
  EXPECT_EQ(tokens.file, 9);
}

TEST(GgufTokenizer, OfT5TokenizesLikeItsSentencePieceModel) {
  const TemporaryDirectory folder;
  std::filesystem::copy_file(kGoldenTokenizers / "t5.model", folder / "spiece.model");
  const Tokenizer golden = Tokenizer::load(folder.path());
  const auto file = io::GgufFile::open(std::filesystem::path(HEED_SOURCE_DIR) /
                                       "tests/golden/gguf_models/t5-vocabulary.gguf");
  const Tokenizer tokenizer = read_gguf_tokenizer(file->metadata(), "t5");
  const TokenizerLines lines(kGoldenTokenizers);
  for (uint64_t number = 0; number < 2000; ++number) {
    const auto ids = tokenizer.encode(lines.line(number));
    ASSERT_EQ(ids, golden.encode(lines.line(number))) << "line " << number;
    ASSERT_EQ(tokenizer.decode(ids), golden.decode(ids)) << "line " << number;
  }
  EXPECT_EQ(tokenizer.special_tokens().eos, golden.special_tokens().eos);
  expect_error([&] { tokenizer.files(); },
               "t5: a unigram tokenizer of a GGUF file cannot be saved");
}

/// The words of a text under the split of this name.
std::string words_of(const std::string& name, const std::string& text) {
  const NamedSplit split = named_split(name, "model.gguf");
  std::vector<std::string> words{text};
  for (const std::string& pattern : split.patterns) {
    std::vector<std::string> parts;
    for (const std::string& word : words) {
      size_t done = 0;
      const auto take = [&](size_t end) {
        if (done < end) parts.push_back(word.substr(done, end - done));
        done = end;
      };
      for (const TextSpan match : Regex(pattern, name).find_all(word)) {
        take(match.begin);
        take(match.end);
      }
      take(word.size());
    }
    words = std::move(parts);
  }
  return fmt::format("{}{}", fmt::join(words, "|"), split.add_bos ? " bos" : "");
}

TEST(GgufTokenizer, KnowsTheSplitsThatLlamaCppKnows) {
  const std::string text = "I'LL eat 12345, ok?\n\nxY";
  const std::string llama3 = "I|'LL| eat| |123|45|,| ok|?\n\n|xY";
  for (const char* name : {"falcon3", "pixtral", "lfm2"})
    EXPECT_EQ(words_of(name, text), llama3 + " bos") << name;
  for (const char* name : {"smaug-bpe", "dbrx", "glm4"}) EXPECT_EQ(words_of(name, text), llama3);
  for (const char* name : {"megrez", "hunyuan", "grok-2"})
    EXPECT_EQ(words_of(name, text), "I|'LL| eat| |1|2|3|4|5|,| ok|?\n\n|xY") << name;
  EXPECT_EQ(words_of("trillion", text), "I|'|LL| eat| 12345|,| ok|?|\n|\n|xY");
  EXPECT_EQ(words_of("seed-coder", text), "I|'LL| eat| |1|2|3|4|5|,| ok|?|\n\n|xY");
  EXPECT_EQ(words_of("viking", text), "I'LL| eat| |1|2|3|4|5|,| ok|?\n\n|xY");
  EXPECT_EQ(words_of("poro-chat", text), "I'LL| eat| 12345|,| ok|?\n\n|xY");
  EXPECT_EQ(words_of("superbpe", text), "I'LL eat |12|345|, ok?\n\nxY");
  EXPECT_EQ(words_of("superbpe", "1234567"), "1|234|567");
  EXPECT_EQ(words_of("bailingmoe", text), "I|'LL| eat| |1|2|3|4|5|,| ok|?\n\n|xY");
  EXPECT_EQ(words_of("falcon", "`a` 12345"), "`|a|`| |123|45");
}

TEST(GgufTokenizer, OfALlamaModelNeedsNoScores) {
  GgufBytes bytes;
  bytes.value("tokenizer.ggml.model", GgufType::string, GgufBytes::text("llama"))
      .value("tokenizer.ggml.tokens", GgufType::array,
             texts({"<unk>", "\u2581", "a", "b", "ab", "\u2581ab"}))
      .value("tokenizer.ggml.unknown_token_id", GgufType::u32, GgufBytes::number(uint32_t{0}));
  // All merges are equally good, so the leftmost comes first.
  EXPECT_EQ(read(bytes).encode("abab"), (std::vector<int32_t>{5, 4}));
}

TEST(GgufTokenizer, NamesUnknownTypes) {
  expect_error([] { read(gguf_of("gpt2", "papyrus")); },
               "model.gguf: the pre-tokenizer \"papyrus\" is not known");
  expect_error(
      [] {
        GgufBytes bytes;
        bytes.value("tokenizer.ggml.model", GgufType::string, GgufBytes::text("rwkv"));
        read(bytes);
      },
      "the tokenizer \"rwkv\" is not known");
  expect_error([] { read(GgufBytes()); }, "has no tokenizer");
}

}  // namespace
}  // namespace heed::text
