// Models with labels for texts or tokens, compared with transformers. The expected numbers come
// from tests/golden/families/make.py.
#include <gtest/gtest.h>

#include "tests/checkpoint/family_golden.h"
#include "tests/checkpoint/saved_model.h"

namespace heed::checkpoint {
namespace {

class ClassifierGolden : public FamilyGolden {
 protected:
  static Tensor logits(const model::Transformer& model, const model::Tokens& tokens) {
    Context context;
    return model.classify(context, tokens);
  }
  Tensor logits() const { return logits(*model_, {ids_, offsets_}); }
  bool labels_tokens() const {
    return model_->config().classifier.kind == model::ClassifierConfig::Kind::token;
  }
};

TEST_P(ClassifierGolden, LogitsOfAllTextsAtOnceEqualTheReference) {
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-5);
}

TEST_P(ClassifierGolden, LogitsOfTextsWithSegmentsEqualTheReference) {
  if (!expected_->contains("typed_logits")) return;
  const std::vector<int32_t> types = integers(expected_->get("token_types"));
  const Tensor typed = logits(*model_, {ids_, offsets_, types});
  EXPECT_LT(difference(typed, expected_->get("typed_logits")), 1e-5);
  EXPECT_GT(difference(typed, expected_->get("logits")), 1e-3);
}

TEST_P(ClassifierGolden, ATextAloneGivesTheSameBitsAsInABatch) {
  const Tensor all = logits();
  for (size_t b = 0; b + 1 < offsets_.size(); ++b) {
    const int32_t begin = offsets_[b], end = offsets_[b + 1];
    const std::vector<int32_t> own(ids_.begin() + begin, ids_.begin() + end),
        offsets{0, end - begin};
    const auto text = static_cast<int64_t>(b);
    const Tensor expected =
        labels_tokens() ? all.row_slice(begin, end) : all.row_slice(text, text + 1);
    EXPECT_EQ(difference(logits(*model_, {own, offsets}), expected), 0) << b;
  }
}

TEST_P(ClassifierGolden, EveryGradientEqualsTheReference) {
  Gradients gradients(model_->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const Tensor found = model_->classify(context, {ids_, offsets_});
  tape.add(found, found.clone());  // of half the sum of squares
  tape.backward();
  expect_gradients(*model_, gradients, *expected_);
}

TEST_P(ClassifierGolden, SavingAndLoadingGivesTheSameFileAndModel) {
  const auto again = save_and_load(*model_, folder_);
  EXPECT_EQ(difference(logits(*again, {ids_, offsets_}), logits()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Families, ClassifierGolden,
    ::testing::Values("bert-sequence", "roberta-sequence", "distilbert-sequence", "mpnet-sequence",
                      "modernbert-sequence", "nomic-bert-sequence", "llama-sequence",
                      "gemma2-sequence", "gpt2-sequence", "bert-token", "roberta-token",
                      "modernbert-token", "llama-token", "gpt2-token", "electra-sequence",
                      "electra-token", "albert-sequence", "eurobert-sequence", "eurobert-token",
                      "t5-token", "gte-sequence", "deberta-v2-sequence", "deberta-v2-token"),
    case_name);

}  // namespace
}  // namespace heed::checkpoint
