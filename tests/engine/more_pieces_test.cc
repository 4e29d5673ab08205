// A tokenizer with more pieces than the embedding has rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/model.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

bool warns(const Model& model, std::string_view words) {
  return std::ranges::any_of(model.warnings(), [&](const std::string& warning) {
    return warning.find(words) != std::string::npos;
  });
}

/// BERT with 12 rows, and a vocabulary of 12 pieces and one more, "rain".
std::filesystem::path write_encoder_with_more_pieces(const TemporaryDirectory& folder) {
  const std::filesystem::path path = folder / "model";
  write_encoder(path, true);
  const std::string pieces = read_file(path / "vocab.txt");
  write_quickly(path / "vocab.txt", pieces + "rain\n");
  return path;
}

TEST(MorePiecesThanRows, OnlyATextWithSuchAPieceIsRefused) {
  const TemporaryDirectory folder;
  const Model model = Model::load(write_encoder_with_more_pieces(folder));
  EXPECT_TRUE(warns(model, "the tokenizer has 13 pieces, the model's vocabulary 12"));
  EXPECT_NO_THROW(model.fill("the [MASK] sea"));
  EXPECT_NO_THROW(model.embed("the old sea"));
  EXPECT_NE(error_of([&] { model.embed("the rain"); }), "no error");
  EXPECT_NE(error_of([&] { model.fill("[MASK] rain"); }), "no error");
}

TEST(MorePiecesThanRows, ADecoderGenerates) {
  const TemporaryDirectory folder;
  write_decoder(folder / "model");
  write_quickly(folder / "model" / "tokenizer_config.json",
                R"({"add_bos_token": false, "additional_special_tokens": ["<new>"]})");
  const Model model = Model::load(folder / "model");
  EXPECT_TRUE(warns(model, "the tokenizer has 121 pieces, the model's vocabulary 120"));
  EXPECT_FALSE(model.generate("the old sailor", {.max_new_tokens = 4}).tokens.empty());
  const std::string error = error_of([&] { model.generate("the <new>", {.max_new_tokens = 4}); });
  EXPECT_NE(error.find("token 120 is outside the vocabulary of 120 tokens"), std::string::npos)
      << error;
}

TEST(MorePiecesThanRows, ATranslatorTranslates) {
  const TemporaryDirectory folder;
  write_translator(folder / "model");
  auto vocabulary = nlohmann::json::parse(read_file(folder / "model" / "vocab.json"));
  const auto last = static_cast<int64_t>(vocabulary.size());
  vocabulary["<one more>"] = last;
  write_quickly(folder / "model" / "vocab.json", vocabulary.dump());
  const Model model = Model::load(folder / "model");
  EXPECT_TRUE(warns(model, "the tokenizer has 121 pieces, the model's vocabulary 120"));
  EXPECT_NO_THROW(model.translate("the old sailor"));
}

}  // namespace
}  // namespace heed::engine
