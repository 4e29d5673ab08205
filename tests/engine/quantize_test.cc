#include "heed/quantize.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

std::filesystem::path text_file(const TemporaryDirectory& folder) {
  std::string text;
  for (int line = 0; line < 40; ++line) text += "the old man and the sea\n";
  write_quickly(folder / "text", text);
  return folder / "text";
}

TEST(QuantizeModel, WritesACopyThatComputesAndIsSmaller) {
  const TemporaryDirectory folder;
  const std::filesystem::path copy = folder / "copy";
  const QuantizeResult result = quantize_model(models().decoder(), copy);
  EXPECT_GT(result.matrices.at("q8_0"), 0);
  EXPECT_NEAR(result.bits_per_weight_before, 32, 0.01);
  EXPECT_LT(result.bits_per_weight_after, 10);
  EXPECT_LT(result.bytes_after, result.bytes_before / 2);
  EXPECT_FALSE(result.quality);
  EXPECT_EQ(Model::load(copy).generate("the sea", {.max_new_tokens = 4}).tokens.size(), 4u);
}

TEST(QuantizeModel, MeasuresTheLossOfQualityByTheKindOfModel) {
  const TemporaryDirectory folder;
  const std::filesystem::path text = text_file(folder);
  for (const auto& [model, reference, measure] :
       {std::tuple{models().decoder(), std::filesystem::path(), "perplexity"},
        {models().encoder(), std::filesystem::path(), "cosine"},
        {models().translator(), text, "BLEU"}}) {
    const QuantizeResult result =
        quantize_model(model, folder / measure,
                       {.weights = WeightType::q4_0,
                        .calibration = {.text = text, .reference = reference},
                        .held_out = {.text = text, .reference = reference}});
    ASSERT_TRUE(result.quality);
    EXPECT_EQ(result.quality->measure, measure);
    EXPECT_TRUE(result.quality->measured_on.starts_with(text.string() + ", "));
    if (result.quality->measure == "BLEU") continue;  // 0: random translations
    EXPECT_GT(result.quality->before, 0) << measure;
    EXPECT_NE(result.quality->after, result.quality->before) << measure;
    EXPECT_GT(result.quality->after_weights_only, result.quality->before / 4) << measure;
  }
}

TEST(QuantizeModel, RefusesWhatItCannotDoBeforeItWrites) {
  const TemporaryDirectory folder;
  const std::filesystem::path text = text_file(folder), out = folder / "out";
  const auto refused = [&](const std::filesystem::path& model, const QuantizeOptions& options,
                           const char* message) {
    expect_error([&] { quantize_model(model, out, options); }, message);
    EXPECT_FALSE(path_exists(out)) << message;
  };
  refused(folder / "absent", {}, "absent");
  refused(models().decoder(), {.weights = WeightType::f32}, "expected bf16 or a block type");
  refused(models().decoder(), {.weights = static_cast<WeightType>(99)}, "one of its enumerators");
  refused(models().decoder(), {.calibration = {.text = text}}, "less than 8 bits, weights is q8_0");
  refused(models().decoder(), {.held_out = {.text = text, .reference = text}}, "is not one");
  refused(models().decoder(), {.held_out = {.reference = text}}, "without the text");
  refused(models().translator(), {.held_out = {.text = text}}, "there is no reference");
  refused(models().translator(), {.weights = WeightType::q4_0, .calibration = {.text = text}},
          "there is no reference");
  expect_error([&] { quantize_model(models().decoder(), models().encoder()); }, "already exists");
}

}  // namespace
}  // namespace heed::engine
