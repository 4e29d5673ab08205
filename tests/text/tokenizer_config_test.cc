// tokenizer_config.json and its neighbours beside a tokenizer.json: transformers is the judge.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/protobuf_bytes.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ConfigCase {
  json contents;
};

void PrintTo(const ConfigCase& one, std::ostream* out) { *out << one.contents["name"]; }

std::vector<ConfigCase> config_cases() {
  std::vector<ConfigCase> cases;
  for (const json& one : json::parse(read_file(kGoldenTokenizers / "config_cases.json")))
    cases.push_back({one});
  return cases;
}

class ConfigBesideTokenizer : public testing::TestWithParam<ConfigCase> {};

TEST_P(ConfigBesideTokenizer, GivesTheIdsAndTextOfTransformers) {
  const TemporaryDirectory folder;
  const json& expected = GetParam().contents;
  const auto tokenizer_file = expected["tokenizer"].get<std::string>() + ".json";
  fs::copy_file(kGoldenTokenizers / tokenizer_file, folder / "tokenizer.json");
  for (const auto& [name, contents] : expected["files"].items())
    write_quickly(folder / name, contents.dump());
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  for (const json& line : expected["lines"]) {
    const auto text = line["text"].get<std::string>();
    EXPECT_EQ(tokenizer.encode(text), line["ids"].get<std::vector<int32_t>>()) << text;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, false)), line["decoded"]) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(, ConfigBesideTokenizer, testing::ValuesIn(config_cases()),
                         [](const auto& test) {
                           return test.param.contents["name"].template get<std::string>();
                         });

std::vector<std::string> warnings_of(const json& config, const json& map = nullptr) {
  const TemporaryDirectory folder;
  fs::copy_file(kGoldenTokenizers / "gpt2.json", folder / "tokenizer.json");
  write_quickly(folder / "tokenizer_config.json", config.dump());
  if (!map.is_null()) write_quickly(folder / "special_tokens_map.json", map.dump());
  std::vector<std::string> warnings = Tokenizer::load(folder.path()).warnings();
  for (std::string& warning : warnings) warning.erase(0, (folder / "").string().size());
  return warnings;
}

TEST(TokenizerConfigWarnings, NameFileKeyAndValue) {
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(warnings_of({{"truncation_side", "left"}}),
            Warnings{"tokenizer_config.json: truncation_side is \"left\" and is ignored: texts are "
                     "shortened at their end"});
  EXPECT_EQ(warnings_of({{"fold_case", true}}),
            Warnings{"tokenizer_config.json: fold_case is true and is ignored: it is not known"});
  EXPECT_EQ(warnings_of({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"do_lower_case", true}}),
            Warnings{"tokenizer_config.json: do_lower_case is true and is ignored: tokenizer.json "
                     "does otherwise, and decides for this tokenizer_class"});
  EXPECT_EQ(warnings_of({{"pad_token", "<a>"}}, {{"pad_token", "<b>"}}),
            Warnings{"special_tokens_map.json: pad_token is \"<b>\", which replaces the one of "
                     "tokenizer_config.json"});
  EXPECT_EQ(warnings_of({{"pad_token", "<a>"}, {"added_tokens_decoder", json::object()}},
                        {{"pad_token", "<b>"}}),
            Warnings{"special_tokens_map.json: pad_token is \"<b>\" and is ignored: "
                     "tokenizer_config.json lists all added tokens"});
}

TEST(TokenizerConfigWarnings, AreNotGivenForWhatIsAppliedOrHasNoInfluence) {
  EXPECT_TRUE(warnings_of({{"model_max_length", 512},
                           {"padding_side", "left"},
                           {"truncation_side", "right"},
                           {"pad_token", "<|endoftext|>"},
                           {"name_or_path", "x"},
                           {"clean_up_tokenization_spaces", true},
                           {"add_prefix_space", false},
                           {"sp_model_kwargs", json::object()}})
                  .empty());
}

/// A model with a user-defined piece.
SentencePieceBytes model_with_break(SentencePieceBytes::Kind kind) {
  SentencePieceBytes model(kind);
  model.piece("<s>", 0, SentencePieceBytes::control).piece("</s>", 0, SentencePieceBytes::control);
  for (const char* piece : {"\u2581", "a", "b", "\u2581a", "ab"}) model.piece(piece, -1);
  return model.piece("<br>", 0, SentencePieceBytes::user_defined);
}

TEST(SentencePieceDirectories, NoSpaceFollowsAUserDefinedPiece) {
  for (const auto kind : {SentencePieceBytes::unigram, SentencePieceBytes::bpe}) {
    const TemporaryDirectory folder;
    write_quickly(folder / "tokenizer.model", model_with_break(kind).bytes);
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    std::string pieces;
    for (const int32_t id : tokenizer.encode("a<br>ab a", false))
      pieces += tokenizer.piece(id) + "|";
    EXPECT_EQ(pieces, "\u2581a|<br>|ab|\u2581a|");
  }
}

TEST(SentencePieceDirectories, AddedTokensAreFoundAsTheyAreWritten) {
  const TemporaryDirectory folder;
  write_quickly(folder / "tokenizer.model", model_with_break(SentencePieceBytes::bpe).bytes);
  write_quickly(folder / "added_tokens.json", R"({"<new>": 20})");
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.encode("a<new>", false).size(), 2u);
}

TEST(SentencePieceDirectories, LegacyFalsePutsASpaceOnlyBeforeTheText) {
  const auto pieces_of = [](const json& config) {
    const TemporaryDirectory folder;
    write_quickly(folder / "tokenizer.model", model_with_break(SentencePieceBytes::bpe).bytes);
    write_quickly(folder / "tokenizer_config.json", config.dump());
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    std::string pieces;
    for (const int32_t id : tokenizer.encode("a</s>a", false)) pieces += tokenizer.piece(id) + "|";
    return pieces;
  };
  EXPECT_EQ(pieces_of({{"legacy", true}}), "\u2581a|</s>|\u2581a|");
  EXPECT_EQ(pieces_of(json::object()), "\u2581a|</s>|\u2581a|");
  EXPECT_EQ(pieces_of({{"legacy", false}}), "\u2581a|</s>|a|");
  // The class's own default.
  EXPECT_EQ(pieces_of({{"tokenizer_class", "LlamaTokenizer"}}), "\u2581a|</s>|a|");
}

}  // namespace
}  // namespace heed::text
