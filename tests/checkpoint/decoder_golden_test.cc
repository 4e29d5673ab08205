// Decoder-only families compared with transformers. The expected numbers come from
// tests/golden/families/make.py.
#include <gtest/gtest.h>

#include "heed/ops/rows.h"
#include "tests/checkpoint/decoding.h"
#include "tests/checkpoint/family_golden.h"
#include "tests/checkpoint/saved_model.h"

namespace heed::checkpoint {
namespace {

class DecoderGolden : public FamilyGolden {
 protected:
  static Tensor logits(const model::Transformer& model, const model::Tokens& tokens) {
    Context context;
    return model.logits(context, model.decode_all(context, tokens));
  }
  Tensor logits() const { return logits(*model_, {ids_, offsets_}); }
};

TEST_P(DecoderGolden, LogitsOfAllTextsAtOnceEqualTheReference) {
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
}

TEST_P(DecoderGolden, ATextAloneGivesTheSameBitsAsInABatch) {
  const Tensor all = logits();
  for (size_t b = 0; b < texts(); ++b) {
    const std::vector<int32_t> own = text(b), offsets{0, static_cast<int32_t>(own.size())};
    EXPECT_EQ(
        difference(logits(*model_, {own, offsets}), all.row_slice(offsets_[b], offsets_[b + 1])), 0)
        << "text " << b;
  }
}

TEST_P(DecoderGolden, DecodingWithCachesEqualsOneFullPass) {
  const Tensor all = logits();
  // The first tokens in one pass, then one at a time; the texts end at different steps.
  Decoding decoding(*model_, texts());
  for (size_t step = 0, end = 3; step < 12; step = end, ++end) {
    std::vector<std::vector<int32_t>> next;
    std::vector<int32_t> rows;
    for (size_t b = 0; b < texts(); ++b) {
      const std::vector<int32_t> own = text(b);
      std::vector<int32_t>& tokens = next.emplace_back();
      for (size_t i = step; i < std::min(end, own.size()); ++i) {
        tokens.push_back(own[i]);
        rows.push_back(offsets_[b] + static_cast<int32_t>(i));
      }
    }
    Context context;
    EXPECT_LT(difference(decoding.feed(next), ops::gather_rows(context, all, rows)), 1e-5)
        << "step " << step;
  }
}

TEST_P(DecoderGolden, GreedyContinuationsEqualTheReference) {
  const Tensor expected = expected_->get("continuation");  // [B, 12]
  for (size_t b = 0; b < texts(); ++b) {
    Decoding decoding(*model_, 1);
    std::vector<int32_t> next = text(b), found;
    while (static_cast<int64_t>(found.size()) < expected.cols()) {
      const Tensor logits = decoding.feed({next});
      const auto last = logits.row_slice(logits.rows() - 1, logits.rows()).values<float>();
      next = {static_cast<int32_t>(std::ranges::max_element(last) - last.begin())};
      found.push_back(next.front());
    }
    const auto row = static_cast<int64_t>(b);
    EXPECT_EQ(found, integers(expected.row_slice(row, row + 1))) << "text " << b;
  }
}

TEST_P(DecoderGolden, LossAndEveryGradientEqualTheReference) {
  std::vector<int32_t> rows, targets;  // all tokens except the first of each text are predicted
  for (size_t b = 0; b < texts(); ++b)
    for (int32_t row = offsets_[b]; row + 1 < offsets_[b + 1]; ++row) {
      rows.push_back(row);
      targets.push_back(ids_[static_cast<size_t>(row) + 1]);
    }
  Gradients gradients(model_->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const Tensor states = model_->decode_all(context, {ids_, offsets_});
  const ops::Loss loss =
      model_->head().loss(context, ops::gather_rows(context, states, rows), targets, {});
  tape.backward();
  EXPECT_NEAR(loss.smoothed / expected_->get("loss").data<float>()[0], 1.0, 1e-5);

  // Gradients are stored as values are: stored_weights() names and joins them.
  for (Parameter& parameter : model_->parameters().all())
    parameter.value = gradients.of(parameter).materialized();
  const auto found = stored_weights(*model_, model::family_for(model_->config()));
  for (const auto& [name, gradient] : found)
    EXPECT_LT(difference(gradient, expected_->get("gradient." + name)), 1e-4) << name;
}

TEST_P(DecoderGolden, ReadsOlderFilesAsTheSameModel) {
  if (const auto old = folder_ / "config.old.json"; std::filesystem::exists(old)) {
    EXPECT_EQ(config_of(old), config_of(folder_ / "config.json"));
  }
  if (const auto old = folder_ / "model.old.safetensors"; std::filesystem::exists(old)) {
    model::Transformer other(model_->config(), std::nullopt);
    load_weights(other, model::family_for(model_->config()), *io::SafetensorsFile::open(old));
    EXPECT_EQ(difference(logits(other, {ids_, offsets_}), logits()), 0);
  }
}

TEST_P(DecoderGolden, SavingAndLoadingGivesTheSameFileAndModel) {
  const auto again = save_and_load(*model_, folder_);
  EXPECT_EQ(difference(logits(*again, {ids_, offsets_}), logits()), 0);
}

TEST_P(DecoderGolden, ALongerContextIsRefusedUnlessTheScalingIsMadeForIt) {
  const nn::RotaryScaling& scaling = model_->config().rotary_scaling;
  if (scaling.kind == nn::RotaryScaling::Kind::none) {
    EXPECT_THROW(load_model(folder_, {}, {.context = 64}), Error);
    return;
  }
  if (!scaling.depends_on_context()) {
    const int64_t longest = model_->config().max_positions;
    const auto extended = static_cast<int64_t>(
        scaling.factor * static_cast<double>(std::max(longest, scaling.original_max_positions)));
    EXPECT_THROW(load_model(folder_, {}, {.context = std::max(longest, extended) + 1}), Error);
    EXPECT_EQ(load_model(folder_, {}, {.context = 9})->config().max_positions, 9);
    return;
  }
  const auto longer = load_model(folder_, {}, {.context = scaling.original_max_positions + 1});
  EXPECT_EQ(longer->config().max_positions, scaling.original_max_positions + 1);
  EXPECT_GT(difference(logits(*longer, {ids_, offsets_}), logits()), 1e-4);
}

TEST_P(DecoderGolden, LatentAttentionCachesOnlyTheLatentAndOneRotaryKey) {
  const nn::LatentDims& dims = model_->config().latent;
  if (!dims.present()) return;
  const int64_t width = dims.kv_lora_rank + dims.qk_rope_head_dim;
  Decoding decoding(*model_, 1);
  decoding.feed({text(0)});
  // With a nonempty cache, heads attend to the latents directly.
  int attentions = 0;
  decoding.context().observe_attention = [&](AttentionSite, const kernels::AttentionForward& in) {
    EXPECT_EQ(in.k.cols(), width);
    EXPECT_EQ(in.k.raw(), in.v.raw());
    ++attentions;
  };
  decoding.feed({{5}});
  EXPECT_EQ(attentions, model_->config().decoder_layers);
  for (nn::KeyValueCache& cache : decoding.caches()) {
    EXPECT_EQ(cache.all().keys.cols(), width);
    EXPECT_FALSE(cache.all().values.defined());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, DecoderGolden,
    ::testing::Values("gpt2", "gpt2-scaled", "llama2", "llama3", "llama-linear", "llama-yarn",
                      "llama-dynamic", "llama-bias", "mistral", "qwen2", "qwen2-window", "qwen3",
                      "gemma2", "deepseek-v2", "deepseek-v2-group", "gemma", "gemma3", "granite",
                      "olmo2", "smollm3", "qwen3-moe", "mixtral", "phi3", "phi3-longrope",
                      "gpt-neox", "gpt-neox-sequential", "deepseek-v3", "gpt-oss"),
    case_name);

}  // namespace
}  // namespace heed::checkpoint
