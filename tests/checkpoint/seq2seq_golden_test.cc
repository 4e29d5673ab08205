// Small random models compared with transformers. The expected numbers come from
// tests/golden/seq2seq/make.py.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/checkpoint/model_directory.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/adam.h"
#include "heed/model/families/family.h"
#include "tests/base/testing.h"

namespace heed::checkpoint {
namespace {

const std::vector<std::vector<int32_t>> kSources{
    {5, 9, 12, 1}, {4, 1}, {6, 6, 17, 22, 35, 2, 11, 1}};
const std::vector<std::vector<int32_t>> kTargets{{7, 3, 30, 31, 1}, {8, 1}, {9, 10, 11, 1}};

struct Sentences {
  std::vector<int32_t> ids, offsets{0};
  void add(const std::vector<int32_t>& tokens) {
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
};

struct Everything {
  Sentences source, input, target;
  Everything() {
    for (size_t i = 0; i < kSources.size(); ++i) {
      source.add(kSources[i]);
      target.add(kTargets[i]);
      std::vector<int32_t> shifted{2};
      shifted.insert(shifted.end(), kTargets[i].begin(), kTargets[i].end() - 1);
      input.add(shifted);
    }
  }
};

/// The largest difference / the largest expected number.
double difference(const Tensor& found, const Tensor& expected) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = found.data<float>()[i], b = expected.data<float>()[i];
    worst = std::max(worst, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  return worst / largest;
}

class Seq2SeqGolden : public ::testing::TestWithParam<const char*> {
 protected:
  const std::filesystem::path folder_ =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/seq2seq" / GetParam();
  std::unique_ptr<model::Transformer> model_ = load_model(folder_);
  std::shared_ptr<const io::SafetensorsFile> expected_ =
      io::SafetensorsFile::open(folder_ / "expected.safetensors");
  Everything text_;

  ops::Loss loss(Context& context) {
    const float scale = 1.0f / static_cast<float>(text_.target.ids.size());
    return model_->loss(context, {text_.source.ids, text_.source.offsets},
                        {text_.input.ids, text_.input.offsets}, text_.target.ids,
                        {.label_smoothing = 0.1f, .gradient_scale = scale});
  }
};

TEST_P(Seq2SeqGolden, LogitsOfAllSequencesAtOnceEqualTheReference) {
  Context context;
  const model::Memory memory = model_->encode(context, {text_.source.ids, text_.source.offsets});
  const Tensor logits = model_->logits(
      context, model_->decode_all(context, {text_.input.ids, text_.input.offsets}, memory));
  for (size_t b = 0; b < kSources.size(); ++b) {
    const Tensor rows = logits.row_slice(text_.input.offsets[b], text_.input.offsets[b + 1]);
    EXPECT_LT(difference(rows, expected_->get("logits." + std::to_string(b))), 1e-4);
  }
}

TEST_P(Seq2SeqGolden, LossAndEveryGradientEqualTheReference) {
  Gradients gradients(model_->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const ops::Loss found = loss(context);
  tape.backward();
  EXPECT_NEAR(found.mean(), expected_->get("losses").data<float>()[0], 1e-4);
  const model::Family& family = model::family_for(model_->config());
  for (const Parameter& parameter : model_->parameters().all()) {
    const auto stored = family.stored(model_->config(), parameter.name, parameter.shape);
    const Tensor expected = expected_->get("gradient." + stored.name);
    const Tensor found_gradient = gradients.of(parameter).materialized();
    // Softmax is invariant to a constant added to all scores: these gradients are rounding errors.
    if (parameter.name.ends_with("k_proj.bias")) {
      for (const float g : found_gradient.values<float>()) EXPECT_NEAR(g, 0.0f, 1e-6f);
      continue;
    }
    EXPECT_LT(difference(found_gradient, expected), 1e-4) << parameter.name;
  }
}

TEST_P(Seq2SeqGolden, TenStepsOfAdamFollowTheReference) {
  Gradients gradients(model_->parameters().all());
  std::vector<Tensor> m, v;
  for (const Parameter& p : model_->parameters().all()) {
    m.push_back(Tensor::zeros(p.value.shape()));
    v.push_back(Tensor::zeros(p.value.shape()));
  }
  const Tensor losses = expected_->get("losses");
  for (int step = 1; step <= 10; ++step) {
    Tape tape(gradients);
    Context context{.tape = &tape};
    // The configurations have no dropout, so training is deterministic.
    EXPECT_NEAR(loss(context).mean(), losses.data<float>()[step - 1], 1e-3) << "step " << step;
    tape.backward();
    size_t i = 0;
    for (Parameter& p : model_->parameters().all()) {
      Tensor gradient = gradients.of(p).materialized();
      kernels::adam_step({p.value, gradient, m[i], v[i]},
                         {.learning_rate = 1e-2f,
                          .bias_correction1 = static_cast<float>(1 - std::pow(0.9, step)),
                          .bias_correction2 = static_cast<float>(1 - std::pow(0.98, step))});
      ++i;
    }
    gradients.set_zero();
  }
}

TEST_P(Seq2SeqGolden, SavingAndLoadingGivesTheSameModel) {
  const TemporaryDirectory folder;
  save_model(folder.path(), *model_, {});
  const auto again = load_model(folder.path());
  ASSERT_EQ(again->parameters().all().size(), model_->parameters().all().size());
  for (const Parameter& p : model_->parameters().all())
    EXPECT_EQ(difference(again->parameters().named(p.name).value, p.value), 0) << p.name;
}

INSTANTIATE_TEST_SUITE_P(Families, Seq2SeqGolden, ::testing::Values("marian", "pegasus"));

}  // namespace
}  // namespace heed::checkpoint
