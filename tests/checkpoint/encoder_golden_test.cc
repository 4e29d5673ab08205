// Encoder-only models compared with transformers. The expected numbers come from
// tests/golden/families/make.py.
#include <gtest/gtest.h>

#include "heed/ops/rows.h"
#include "tests/checkpoint/family_golden.h"
#include "tests/checkpoint/saved_model.h"

namespace heed::checkpoint {
namespace {

class EncoderGolden : public FamilyGolden {
 protected:
  /// States [N, D], and logits or pooled states if the model has them.
  struct Outputs {
    Tensor states, logits, pooled;
  };
  static Outputs outputs(const model::Transformer& model, const model::Tokens& tokens) {
    Context context;
    Outputs found{.states = model.encode(context, tokens).states, .logits = {}, .pooled = {}};
    if (model.config().has_head) found.logits = model.logits(context, found.states);
    if (model.config().pooler) found.pooled = model.pool(context, found.states, tokens.offsets);
    return found;
  }
  Outputs outputs() const { return outputs(*model_, {ids_, offsets_}); }

  static void expect_same(const Outputs& found, const Outputs& expected) {
    EXPECT_EQ(difference(found.states, expected.states), 0);
    ASSERT_EQ(found.logits.defined(), expected.logits.defined());
    ASSERT_EQ(found.pooled.defined(), expected.pooled.defined());
    if (expected.logits.defined()) {
      EXPECT_EQ(difference(found.logits, expected.logits), 0);
    }
    if (expected.pooled.defined()) {
      EXPECT_EQ(difference(found.pooled, expected.pooled), 0);
    }
  }

  /// The loss of masked tokens and its gradient.
  double masked_loss(Context& context, const Tensor& states) const {
    const std::vector<int32_t> rows = integers(expected_->get("mlm_rows"));
    const std::vector<int32_t> targets = integers(expected_->get("mlm_targets"));
    return model_->head()
        .loss(context, ops::gather_rows(context, states, rows), targets, {})
        .smoothed;
  }

  /// Half the sum of squares of all outputs, and its gradient.
  double squared_loss(Context& context, const Tensor& states) const {
    double loss = 0;
    std::vector<Tensor> outputs{states};
    if (model_->config().pooler) outputs.push_back(model_->pool(context, states, offsets_));
    for (const Tensor& output : outputs) {
      Tensor gradient = Tensor::empty(output.shape());
      for (int64_t i = 0; i < output.elements(); ++i) {
        const float value = gradient.data<float>()[i] = output.data<float>()[i];
        loss += 0.5 * value * value;
      }
      context.tape->add(output, gradient);
    }
    return loss;
  }
};

TEST_P(EncoderGolden, OutputsOfAllTextsAtOnceEqualTheReference) {
  const Outputs found = outputs();
  EXPECT_LT(difference(found.states, expected_->get("hidden")), 1e-5);
  EXPECT_EQ(found.logits.defined(), expected_->contains("logits"));
  EXPECT_EQ(found.pooled.defined(), expected_->contains("pooled"));
  if (found.logits.defined()) {
    EXPECT_LT(difference(found.logits, expected_->get("logits")), 1e-5);
  }
  if (found.pooled.defined()) {
    EXPECT_LT(difference(found.pooled, expected_->get("pooled")), 1e-5);
  }
}

TEST_P(EncoderGolden, OutputsOfTextsWithSegmentsEqualTheReference) {
  if (!expected_->contains("token_types")) return;
  const std::vector<int32_t> types = integers(expected_->get("token_types"));
  const Outputs found = outputs(*model_, {ids_, offsets_, types});
  EXPECT_LT(difference(found.states, expected_->get("typed_hidden")), 1e-5);
  if (found.pooled.defined()) {
    EXPECT_LT(difference(found.pooled, expected_->get("typed_pooled")), 1e-5);
  }
}

TEST_P(EncoderGolden, ATextAloneGivesTheSameBitsAsInABatch) {
  const Outputs all = outputs();
  for (size_t b = 0; b + 1 < offsets_.size(); ++b) {
    SCOPED_TRACE(b);
    const int32_t begin = offsets_[b], end = offsets_[b + 1];
    const std::vector<int32_t> own(ids_.begin() + begin, ids_.begin() + end);
    const std::vector<int32_t> offsets{0, end - begin};
    Outputs expected{.states = all.states.row_slice(begin, end), .logits = {}, .pooled = {}};
    if (all.logits.defined()) expected.logits = all.logits.row_slice(begin, end);
    const auto row = static_cast<int64_t>(b);
    if (all.pooled.defined()) expected.pooled = all.pooled.row_slice(row, row + 1);
    expect_same(outputs(*model_, {own, offsets}), expected);
  }
}

TEST_P(EncoderGolden, LossAndEveryGradientEqualTheReference) {
  Gradients gradients(model_->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const Tensor states = model_->encode(context, {ids_, offsets_}).states;
  const double loss =
      model_->config().has_head ? masked_loss(context, states) : squared_loss(context, states);
  tape.backward();
  EXPECT_NEAR(loss / expected_->get("loss").data<float>()[0], 1.0, 1e-5);
  expect_gradients(*model_, gradients, *expected_);
}

TEST_P(EncoderGolden, ReadsOlderFilesAsTheSameModel) {
  if (const auto config = folder_ / "config.old.json"; std::filesystem::exists(config)) {
    EXPECT_EQ(config_of(config), config_of(folder_ / "config.json"));
  }
  const auto old = folder_ / "model.old.safetensors";
  if (!std::filesystem::exists(old)) return;
  model::Transformer other(model_->config(), std::nullopt);
  load_weights(other, model::family_for(model_->config()), *io::SafetensorsFile::open(old));
  expect_same(outputs(other, {ids_, offsets_}), outputs());
}

TEST_P(EncoderGolden, SavingAndLoadingGivesTheSameFileAndModel) {
  const auto again = save_and_load(*model_, folder_);
  expect_same(outputs(*again, {ids_, offsets_}), outputs());
}

INSTANTIATE_TEST_SUITE_P(Families, EncoderGolden,
                         ::testing::Values("bert", "bert-pooled", "distilbert", "roberta",
                                           "xlm-roberta", "mpnet", "mpnet-pooled", "modernbert",
                                           "modernbert-bias", "nomic-bert", "nomic-bert-masked",
                                           "nomic-bert-moe", "electra", "electra-states", "albert",
                                           "albert-pooled", "eurobert", "eurobert-states",
                                           "t5-states", "gte", "gte-new", "jina-bert",
                                           "jina-bert-pooled", "deberta-v2", "deberta-v2-apart",
                                           "deberta-v2-states"),
                         case_name);

}  // namespace
}  // namespace heed::checkpoint
