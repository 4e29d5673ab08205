// What models do with texts without generating, on a GPU: as on the CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/base/testing.h"
#include "tests/devices/on_a_gpu.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

const std::vector<std::string> kTexts{"the old sea", "a ship", "out in the sea, the old ship went",
                                      "the the the the the the the the the"};

const char* const kEmbedders[] = {"embed-bert",       "embed-modernbert", "embed-mpnet",
                                  "embed-nomic-bert", "embed-roberta",    "embed-xlm-roberta"};

void expect_near(std::span<const float> found, std::span<const float> expected, float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

double cosine(std::span<const float> x, std::span<const float> y) {
  double products = 0, squares_x = 0, squares_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    products += double{x[i]} * double{y[i]};
    squares_x += double{x[i]} * double{x[i]};
    squares_y += double{y[i]} * double{y[i]};
  }
  return products / std::sqrt(squares_x * squares_y);
}

TEST(ReadingOnAGpu, EmbeddingsAreThoseOfTheCpu) {
  for (const char* const name : kEmbedders) {
    SCOPED_TRACE(name);
    const OnBoth models(golden_folder("encoders") / name);
    EXPECT_EQ(models.gpu.gpu(), kernels::test_gpu().name());
    const auto found = models.gpu.embed_batch(kTexts), expected = models.cpu.embed_batch(kTexts);
    for (size_t i = 0; i < kTexts.size(); ++i) expect_near(found[i], expected[i], 1e-4f);
    // An embedding has the same bits in a batch and alone.
    EXPECT_EQ(models.gpu.embed(kTexts[1]), found[1]);
    EXPECT_EQ(models.gpu.embed_batch(kTexts, {.batch_tokens = 8}), found);
  }
}

TEST(ReadingOnAGpu, EmbeddingsInBf16AreCloseToThoseInF32) {
  for (const char* const name : kEmbedders) {
    SCOPED_TRACE(name);
    const std::filesystem::path path = golden_folder("encoders") / name;
    const OnBoth bf16(path, {.compute = Compute::bf16});
    const auto expected = OnBoth::load(path, {}, "cpu").embed_batch(kTexts);
    for (const Model& model : {bf16.gpu, bf16.cpu}) {
      const auto found = model.embed_batch(kTexts);
      for (size_t i = 0; i < kTexts.size(); ++i) {
        EXPECT_GE(cosine(found[i], expected[i]), 0.999) << model.gpu() << ", " << kTexts[i];
        EXPECT_NE(found[i], expected[i]);
      }
      EXPECT_EQ(model.embed(kTexts[2]), found[2]);
    }
  }
}

TEST(ReadingOnAGpu, AnEncoderOf16BitsComputesInBf16) {
  const TemporaryDirectory folder;
  engine::write_encoder(folder.path() / "encoder", false);
  const Model f32 = OnBoth::load(folder.path() / "encoder", {}, "cpu");
  engine::store_in_16_bits(folder.path() / "encoder");
  const OnBoth models(folder.path() / "encoder");
  EXPECT_EQ(models.gpu.load_options().compute, Compute::bf16);
  EXPECT_EQ(models.cpu.load_options().compute, std::nullopt);
  EXPECT_GE(cosine(models.gpu.embed("the old sea"), f32.embed("the old sea")), 0.999);
}

/// The scores of labels in their order, as numbers.
std::vector<float> scores_of(const std::vector<std::vector<LabelScore>>& all) {
  std::map<std::string, float> by_label;
  std::vector<float> scores;
  for (const auto& labels : all) {
    for (const LabelScore& one : labels) by_label[one.label] = static_cast<float>(one.score);
    for (const auto& [label, score] : by_label) scores.push_back(score);
  }
  return scores;
}

TEST(ReadingOnAGpu, LabelsAndRanksAreThoseOfTheCpu) {
  for (const std::optional<Compute> compute : {std::optional<Compute>(), {Compute::bf16}}) {
    const float tolerance = compute ? 0.03f : 1e-4f;
    const LoadOptions options{.compute = compute};
    const OnBoth labels(golden_folder("encoders/classify"), options);
    const std::vector<ClassifyInput> inputs(kTexts.begin(), kTexts.end());
    expect_near(scores_of(labels.gpu.classify_batch(inputs)),
                scores_of(labels.cpu.classify_batch(inputs)), tolerance);
    const OnBoth ranks(golden_folder("encoders/rerank"), options);
    const auto found = ranks.gpu.document_scores("the sea", kTexts),
               expected = ranks.cpu.document_scores("the sea", kTexts);
    for (size_t i = 0; i < kTexts.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance);
    const OnBoth tokens(golden_folder("encoders/ner"), options);
    const LabelledText words = tokens.gpu.label_tokens(kTexts[2]);
    EXPECT_EQ(words.tokens, tokens.cpu.label_tokens(kTexts[2]).tokens);
    EXPECT_EQ(words.entities.size(), tokens.cpu.label_tokens(kTexts[2]).entities.size());
  }
}

TEST(ReadingOnAGpu, MaskedWordsAreThoseOfTheCpu) {
  for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    const OnBoth models(engine::models().masked(), {.compute = compute});
    const FilledText found = models.gpu.fill("the [MASK] sea [MASK]", 3),
                     expected = models.cpu.fill("the [MASK] sea [MASK]", 3);
    ASSERT_EQ(found.masks.size(), 2u);
    EXPECT_EQ(models.gpu.fill("the [MASK] sea", 1).masks.size(), 1u);
    for (size_t mask = 0; mask < 2; ++mask)
      for (size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(found.masks[mask].best[i].probability, expected.masks[mask].best[i].probability,
                    compute == Compute::bf16 ? 2e-3 : 1e-4);
  }
}

TEST(ReadingOnAGpu, ScoresAndLogitsAreThoseOfTheCpu) {
  for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    const float tolerance = compute == Compute::bf16 ? 0.1f : 2e-3f;
    const OnBoth models(engine::models().decoder(), {.compute = compute});
    const auto expect_same = [&](const auto& score) {
      const auto found = score(models.gpu), expected = score(models.cpu);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance);
    };
    expect_same([](const Model& model) { return model.score(kTexts[2]).log_probabilities; });
    expect_same([](const Model& model) {
      return model.score(kTexts[2], {.window = 8, .stride = 3}).log_probabilities;
    });
    expect_same([](const Model& model) { return model.logits(model.tokenize(kTexts[0])).values; });
  }
  const OnBoth translators(engine::models().translator());
  const auto pair = [](const Model& model) {
    return model.score_pair("the sea", "the ship").log_probabilities;
  };
  const auto found = pair(translators.gpu), expected = pair(translators.cpu);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-3);
}

TEST(ReadingOnAGpu, AttentionIsThatOfTheCpu) {
  const engine::SmallModels& small = engine::models();
  for (const std::filesystem::path& path :
       {small.decoder(), small.encoder(), small.translator(), small.t5()})
    for (const Compute compute : {Compute::f32, Compute::bf16}) {
      SCOPED_TRACE(path.string());
      const OnBoth models(path, {.compute = compute});
      const auto found = models.gpu.attention("the old sea"),
                 expected = models.cpu.attention("the old sea");
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].queries, expected[i].queries);
        expect_near(found[i].weights, expected[i].weights,
                    compute == Compute::bf16 ? 0.02f : 1e-4f);
      }
    }
}

}  // namespace
}  // namespace heed
