// BART, T5 and their relatives compared with transformers. The expected numbers come from
// tests/golden/families/make.py.
#include <gtest/gtest.h>

#include "heed/ops/rows.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/family_golden.h"
#include "tests/checkpoint/saved_model.h"

namespace heed::checkpoint {
namespace {

class EncoderDecoderGolden : public FamilyGolden {
 protected:
  const std::vector<int32_t> source_ = integers(expected_->get("source_ids"));
  const std::vector<int32_t> source_offsets_ = integers(expected_->get("source_offsets"));

  static Tensor logits(const model::Transformer& model, const model::Tokens& source,
                       const model::Tokens& input) {
    Context context;
    const model::Memory memory = model.encode(context, source);
    return model.logits(context, model.decode_all(context, input, memory));
  }
  Tensor logits(const model::Transformer& model) const {
    return logits(model, {source_, source_offsets_}, {ids_, offsets_});
  }
};

std::vector<int32_t> part(const std::vector<int32_t>& ids, const std::vector<int32_t>& offsets,
                          size_t b) {
  return {ids.begin() + offsets[b], ids.begin() + offsets[b + 1]};
}

/// Decodes the target of one source token by token, with key/value caches.
class Step {
 public:
  Step(const model::Transformer& model, const std::vector<int32_t>& source)
      : model_(model),
        memory_(model.encode(context_, {source, {0, static_cast<int32_t>(source.size())}})),
        caches_(model.make_caches(nn::KeyValueCache::Mode::cache)) {}

  /// Logits [1, V] after `token`.
  Tensor feed(int32_t token) {
    const int32_t position = length_++;
    const kernels::AttentionMetadata own{
        .q_offsets = {0, 1}, .kv_begin = {0}, .kv_end = {length_}, .kv_rows = {}};
    const std::vector<int32_t> one{0, 1};
    const auto cross = kernels::AttentionMetadata::cross(one, memory_.offsets);
    const std::vector<int32_t> input{token};
    const nn::SelfSpans self{std::make_shared<const kernels::AttentionMetadata>(own), 0};
    return model_.logits(context_,
                         model_.decode(context_, input, memory_,
                                       {{&position, 1},
                                        self,
                                        std::make_shared<const kernels::AttentionMetadata>(cross),
                                        caches_}));
  }

 private:
  const model::Transformer& model_;
  Context context_;
  model::Memory memory_;
  std::vector<nn::KeyValueCache> caches_;
  int32_t length_ = 0;
};

TEST_P(EncoderDecoderGolden, StatesAndLogitsOfAllPairsAtOnceEqualTheReference) {
  Context context;
  const Tensor encoded = model_->encode(context, {source_, source_offsets_}).states;
  EXPECT_LT(difference(encoded, expected_->get("encoded")), 1e-4);
  EXPECT_LT(difference(logits(*model_), expected_->get("logits")), 1e-4);
}

TEST_P(EncoderDecoderGolden, APairAloneGivesTheSameBitsAsInABatch) {
  const Tensor all = logits(*model_);
  for (size_t b = 0; b < texts(); ++b) {
    const std::vector<int32_t> source = part(source_, source_offsets_, b);
    const std::vector<int32_t> input = text(b);
    const Tensor alone = logits(*model_, {source, {0, static_cast<int32_t>(source.size())}},
                                {input, {0, static_cast<int32_t>(input.size())}});
    EXPECT_EQ(difference(alone, all.row_slice(offsets_[b], offsets_[b + 1])), 0) << "pair " << b;
  }
}

TEST_P(EncoderDecoderGolden, DecodingWithCachesEqualsOneFullPass) {
  const Tensor all = logits(*model_);
  for (size_t b = 0; b < texts(); ++b) {
    Step step(*model_, part(source_, source_offsets_, b));
    for (int32_t row = offsets_[b]; row < offsets_[b + 1]; ++row)
      EXPECT_LT(difference(step.feed(ids_[static_cast<size_t>(row)]), all.row_slice(row, row + 1)),
                1e-5)
          << "row " << row;
  }
}

TEST_P(EncoderDecoderGolden, GreedyContinuationsEqualTheReference) {
  const Tensor expected = expected_->get("continuation");  // [B, 12]
  for (size_t b = 0; b < texts(); ++b) {
    Step step(*model_, part(source_, source_offsets_, b));
    std::vector<int32_t> found{model_->config().decoder_start_id};
    while (static_cast<int64_t>(found.size()) <= expected.cols()) {
      const Tensor logits = step.feed(found.back());
      const auto next = logits.values<float>();
      found.push_back(static_cast<int32_t>(std::ranges::max_element(next) - next.begin()));
    }
    found.erase(found.begin());
    const auto row = static_cast<int64_t>(b);
    EXPECT_EQ(found, integers(expected.row_slice(row, row + 1))) << "pair " << b;
  }
}

TEST_P(EncoderDecoderGolden, LossAndEveryGradientEqualTheReference) {
  const std::vector<int32_t> targets = integers(expected_->get("targets"));
  Gradients gradients(model_->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const ops::Loss loss =
      model_->loss(context, {source_, source_offsets_}, {ids_, offsets_}, targets, {});
  tape.backward();
  EXPECT_NEAR(loss.smoothed / expected_->get("loss").data<float>()[0], 1.0, 1e-5);
  expect_gradients(*model_, gradients, *expected_);
}

TEST_P(EncoderDecoderGolden, ReadsOlderFilesAsTheSameModel) {
  if (const auto old = folder_ / "config.old.json"; std::filesystem::exists(old)) {
    EXPECT_EQ(config_of(old), config_of(folder_ / "config.json"));
  }
  if (const auto old = folder_ / "model.old.safetensors"; std::filesystem::exists(old)) {
    model::Transformer other(model_->config(), std::nullopt);
    load_weights(other, model::family_for(model_->config()), *io::SafetensorsFile::open(old));
    EXPECT_EQ(difference(logits(other), logits(*model_)), 0);
  }
}

TEST_P(EncoderDecoderGolden, SavingAndLoadingGivesTheSameFileAndModel) {
  const auto again = save_and_load(*model_, folder_);
  EXPECT_EQ(difference(logits(*again), logits(*model_)), 0);
}

INSTANTIATE_TEST_SUITE_P(Families, EncoderDecoderGolden,
                         ::testing::Values("bart", "t5", "t5-v1.1", "mt5", "mbart", "m2m-100",
                                           "pegasus", "marian", "marian-separate"),
                         case_name);

TEST(T5WithoutAHead, HasTheEmbeddingInItsPlace) {
  const auto folder = golden_folder("families") / "t5-v1.1-tied";
  const auto model = load_model(folder);
  const auto expected = io::SafetensorsFile::open(folder / "expected.safetensors");
  const auto logits_of = [&](const model::Transformer& of) {
    Context context;
    const auto source = integers(expected->get("source_ids")),
               input = integers(expected->get("input_ids"));
    const model::Memory memory =
        of.encode(context, {source, integers(expected->get("source_offsets"))});
    return of.logits(context,
                     of.decode_all(context, {input, integers(expected->get("offsets"))}, memory));
  };
  EXPECT_LT(difference(logits_of(*model), expected->get("logits")), 1e-4);
  const TemporaryDirectory saved;
  save_model(saved.path(), *model, {});
  EXPECT_EQ(difference(logits_of(*load_model(saved.path())), logits_of(*model)), 0);
}

}  // namespace
}  // namespace heed::checkpoint
