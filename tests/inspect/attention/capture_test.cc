#include "heed/inspect/attention/capture.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "heed/base/error.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

model::ModelConfig small_config(int64_t encoder_layers, int64_t decoder_layers) {
  model::ModelConfig config;
  config.vocab_size = 40;
  config.d_model = 16;
  config.n_heads = 4;
  config.d_ff = 32;
  config.encoder_layers = encoder_layers;
  config.decoder_layers = decoder_layers;
  config.max_positions = 4096;
  return config;
}

StackInput input_of(int tokens) {
  StackInput result{"a text", {}, {}};
  for (int i = 0; i < tokens; ++i) {
    result.ids.push_back(2 + (7 * i + 3) % 38);
    result.pieces.push_back(fmt::format("{}", result.ids.back()));
  }
  return result;
}

/// The weights [H, Tq, Tk] of one layer, all at once.
Tensor weights_of(const model::Transformer& model, const ModelInput& input, HeadChoice choice) {
  Tensor found;
  Context context;
  context.observe_attention = [&](AttentionSite site, const kernels::AttentionForward& in) {
    if (site.kind == choice.kind && site.layer == choice.layer)
      found = kernels::attention_weights(in, {0, 0, in.spans.q_offsets.back()});
  };
  const std::vector<int32_t> source{0, static_cast<int32_t>(input.source.ids.size())};
  const std::vector<int32_t> target{0, static_cast<int32_t>(input.target.ids.size())};
  const model::Memory memory =
      model.has_encoder() ? model.encode(context, {input.source.ids, source}) : model::Memory{};
  if (model.has_decoder()) model.decode_all(context, {input.target.ids, target}, memory);
  return found;
}

TEST(Capture, AHeadHasTheWeightsOfTheForwardPass) {
  const model::Transformer model(small_config(2, 2), 3);
  const ModelInput input{input_of(30), input_of(17)};
  using enum AttentionKind;
  for (const AttentionKind kind : {encoder_self, decoder_self, cross}) {
    const HeadChoice choice{kind, 1, 2};
    const HeadMap map = capture_head(model, input, choice);
    const Tensor all = weights_of(model, input, choice);
    EXPECT_EQ(map.heads, 4);
    ASSERT_EQ(map.weights.elements(), all.elements() / 4);
    for (int64_t i = 0; i < map.weights.elements(); ++i)
      EXPECT_EQ(map.weights.data<float>()[i], all.data<float>()[2 * map.weights.elements() + i]);
  }
}

TEST(Capture, WithoutAHeadTheMeanOfAllHeadsIsCaptured) {
  const model::Transformer model(small_config(0, 2), 3);
  const ModelInput input{{}, input_of(20)};
  const HeadChoice choice{AttentionKind::decoder_self, 0, {}};
  const HeadMap map = capture_head(model, input, choice);
  const Tensor all = weights_of(model, input, choice);
  for (int64_t i = 0; i < 400; ++i) {
    float mean = 0;
    for (int64_t h = 0; h < 4; ++h) mean += all.data<float>()[h * 400 + i] / 4;
    EXPECT_FLOAT_EQ(map.weights.data<float>()[i], mean);
  }
}

TEST(Capture, APageHasAllHeadsOfTheRequestedKinds) {
  const model::Transformer model(small_config(1, 2), 3);
  const ModelInput input{input_of(11), input_of(9)};
  const AttentionCapture capture = capture_attention(model, input);
  ASSERT_EQ(capture.weights.maps.size(), 5u);
  EXPECT_EQ(capture.texts.target_tokens, input.target.pieces);
  for (const EncodedAttention::Map& map : capture.weights.maps) {
    const Tensor all = weights_of(model, input, {map.kind, map.layer, {}});
    ASSERT_EQ(map.heads.size(), 4u);
    size_t i = 0;
    for (const std::string& head : map.heads)
      for (const float weight : decoded(head))
        EXPECT_NEAR(weight, all.data<float>()[i++], 1.0f / 255);
    EXPECT_EQ(static_cast<int64_t>(i), all.elements());
  }
  check(capture);
  const AttentionCapture cross = capture_attention(model, input, {.kind = AttentionKind::cross});
  ASSERT_EQ(cross.weights.maps.size(), 2u);
  for (const EncodedAttention::Map& map : cross.weights.maps)
    EXPECT_EQ(map.kind, AttentionKind::cross);
}

TEST(Capture, WeightsThatAreNotFiniteBecomeZero) {
  model::Transformer model(small_config(0, 1), 3);
  model.parameters()
      .named("model.decoder.layers.0.self_attn.q_proj.weight")
      .value.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const ModelInput input{{}, input_of(5)};
  const HeadMap map = capture_head(model, input, {AttentionKind::decoder_self, 0, 0});
  for (int64_t i = 0; i < 25; ++i) EXPECT_EQ(map.weights.data<float>()[i], 0.0f);
  EXPECT_EQ(capture_attention(model, input).weights.missing,
            15);  // the unmasked weights of one head
}

std::string refusal(const model::Transformer& model, const HeadChoice& choice) {
  try {
    check(model, choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Capture, RefusesAbsentLayersAndHeadsAndNamesTheRange) {
  const model::Transformer both(small_config(3, 2), std::nullopt);
  const model::Transformer encoder(small_config(2, 0), std::nullopt);
  using enum AttentionKind;
  EXPECT_EQ(refusal(both, default_choice(both)), "");
  EXPECT_EQ(default_choice(both).kind, cross);
  EXPECT_EQ(default_choice(both, encoder_self).layer, 2);
  EXPECT_EQ(default_choice(encoder).kind, encoder_self);
  EXPECT_EQ(refusal(both, {encoder_self, 2, 3}), "");
  EXPECT_EQ(refusal(both, {cross, 2, 3}), "layer is 2, expected 0 to 1, the layers of the decoder");
  EXPECT_EQ(refusal(both, {encoder_self, -1, 3}),
            "layer is -1, expected 0 to 2, the layers of the encoder");
  EXPECT_EQ(refusal(both, {cross, 1, 4}), "head is 4, expected 0 to 3");
  EXPECT_EQ(refusal(encoder, {cross, 0, 0}),
            "the model has no cross attention: it is encoder-only");
}

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

TEST(Capture, MemoryHoldsOnlyTheWeightsShown) {
  const model::Transformer model(small_config(0, 2), 3);
  const ModelInput input{{}, input_of(4000)};  // all maps: 512 MB
  const int64_t before = peak_bytes();
  EXPECT_EQ(capture_head(model, input, default_choice(model), 50).weights.cols(), 50);
  const EncodedAttention page = capture_attention(model, input, {.budget = 1 << 20}).weights;
  EXPECT_EQ(page.maps.size(), 2u);
  EXPECT_EQ(page.floor, kMaxFloor);
  EXPECT_LT(peak_bytes() - before, int64_t{150} << 20);
}

}  // namespace
}  // namespace heed::inspect
