#include "heed/model/transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/base/threads.h"
#include "tests/ops/gradient_check.h"

namespace heed::model {
namespace {

ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 23;
  config.d_model = 12;
  config.encoder_layers = config.decoder_layers = 2;
  config.n_heads = 3;
  config.d_ff = 20;
  config.max_positions = 16;
  config.dropout = 0.0f;
  return config;
}

const std::vector<int32_t> kSource{5, 9, 1, 7, 8, 9, 10, 1}, kSourceOffsets{0, 3, 8};
const std::vector<int32_t> kInput{0, 4, 6, 0, 12, 13, 14}, kInputOffsets{0, 3, 7};
const std::vector<int32_t> kTarget{4, 6, 1, 12, 13, 14, 1};

struct Variant {
  const char* name;
  void (*change)(ModelConfig&);
};

const Variant kVariants[] = {
    {"post-norm", [](ModelConfig&) {}},
    {"pre-norm, GELU",
     [](ModelConfig& c) {
       c.norm_placement = nn::NormPlacement::pre;
       c.activation = kernels::Activation::gelu;
     }},
    {"bottleneck heads, d_v other than d_k, grouped",
     [](ModelConfig& c) {
       c.n_heads = 4;
       c.n_kv_heads = 2;
       c.head_dim = 2;
       c.v_head_dim = 5;
     }},
    {"RMSNorm, gated SiLU, learned positions, dropout", [](ModelConfig& c) {
       c.norm = nn::NormKind::rms;
       c.gated = true;
       c.activation = kernels::Activation::silu;
       c.positions = PositionKind::learned;
       c.dropout = 0.2f;
       c.attention_dropout = 0.1f;
       c.activation_dropout = 0.1f;
     }}};

TEST(Transformer, GradientsOfAWholeModelEqualFiniteDifferences) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    ModelConfig config = small_config();
    // ReLU has a kink that a finite step may cross somewhere in a whole model.
    config.activation = kernels::Activation::gelu;
    variant.change(config);
    Transformer model(config, 3);
    std::vector<testing::Checked> checked;
    for (Parameter& p : model.parameters().all()) {
      // Adding a constant to all scores does not change a softmax: this gradient is only rounding.
      p.trainable = !p.name.ends_with("k_proj.bias");
      if (p.trainable) checked.push_back(testing::parameter(p));
    }
    testing::check_gradients(
        [&](Context& context) {
          const ops::Loss loss =
              model.loss(context, {kSource, kSourceOffsets}, {kInput, kInputOffsets}, kTarget,
                         {.label_smoothing = 0.1f});
          context.tape->backward();
          return loss.smoothed;
        },
        checked, 1e-3, 0.04);
  }
}

TEST(Transformer, ASequenceDependsNeitherOnItsBatchNorOnTheThreads) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    ModelConfig config = small_config();
    variant.change(config);
    const Transformer model(config, 3);
    Context context;
    const Memory memory = model.encode(context, {kSource, kSourceOffsets});
    const Tensor both = model.decode_all(context, {kInput, kInputOffsets}, memory);

    const Threads other(thread_count() == 1 ? 2 : 1);
    const std::vector<int32_t> source(kSource.begin() + 3, kSource.end()), source_offsets{0, 5};
    const std::vector<int32_t> input(kInput.begin() + 3, kInput.end()), offsets{0, 4};
    const Memory alone = model.encode(context, {source, source_offsets});
    const Tensor one = model.decode_all(context, {input, offsets}, alone);
    EXPECT_EQ(std::memcmp(one.raw(), both.row_slice(3, 7).raw(), static_cast<size_t>(one.bytes())),
              0);
  }
}

TEST(Transformer, DecodingStepByStepWithACacheEqualsOneFullPass) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    ModelConfig config = small_config();
    variant.change(config);
    const Transformer model(config, 3);
    Context context;
    const std::vector<int32_t> source(kSource.begin(), kSource.begin() + 3), source_offsets{0, 3};
    const std::vector<int32_t> input{0, 4, 6, 2, 9}, offsets{0, 5};
    const Memory memory = model.encode(context, {source, source_offsets});
    const Tensor full = model.decode_all(context, {input, offsets}, memory);
    std::vector<nn::KeyValueCache> caches(2, nn::KeyValueCache(nn::KeyValueCache::Mode::cache));
    for (int32_t step = 0; step < 5; ++step) {
      const kernels::AttentionMetadata own{{0, 1}, {0}, {step + 1}, {}},
          cross{{0, 1}, {0}, {3}, {}};
      const nn::SelfSpans self{std::make_shared<const kernels::AttentionMetadata>(own), 0};
      const Tensor row = model.decode(
          context, std::span(input).subspan(static_cast<size_t>(step), 1), memory,
          {{&step, 1}, self, std::make_shared<const kernels::AttentionMetadata>(cross), caches});
      for (int64_t d = 0; d < config.d_model; ++d)
        EXPECT_NEAR(row.data<float>()[d], full.data<float>()[step * config.d_model + d], 1e-5)
            << "step " << step;
    }
  }
}

TEST(Transformer, InitialActivationsKeepTheirVariance) {
  ModelConfig config = small_config();
  config.d_model = 64;
  config.n_heads = 4;
  config.d_ff = 256;
  config.norm_placement = nn::NormPlacement::pre;
  const Transformer model(config, 1);
  Context context;
  const Tensor states = model.encode(context, {kSource, kSourceOffsets}).states;
  double sum = 0;
  for (const float x : states.values<float>()) sum += std::pow(static_cast<double>(x), 2);
  EXPECT_NEAR(std::sqrt(sum / static_cast<double>(states.elements())), 1.0, 0.2);
}

TEST(Transformer, TheSameSeedGivesTheSameWeights) {
  const Transformer a(small_config(), 7), b(small_config(), 7), other(small_config(), 8);
  const Parameter &x = a.parameters().all().front(), &y = b.parameters().all().front(),
                  &z = other.parameters().all().front();
  EXPECT_EQ(std::memcmp(x.value.raw(), y.value.raw(), static_cast<size_t>(x.value.bytes())), 0);
  EXPECT_NE(std::memcmp(x.value.raw(), z.value.raw(), static_cast<size_t>(x.value.bytes())), 0);
}

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ModelConfig, RefusesImpossibleSizes) {
  const auto refused = [](void (*change)(ModelConfig&)) {
    ModelConfig config = small_config();
    change(config);
    return error_of([&] { config.validate(); });
  };
  EXPECT_EQ(refused([](ModelConfig& c) { c.n_heads = 5; }),
            "d_model is 12, not divisible by num_attention_heads, which is 5 (or give head_dim)");
  EXPECT_EQ(refused([](ModelConfig& c) { c.n_kv_heads = 2; }),
            "num_attention_heads is 3, not divisible by num_key_value_heads, which is 2");
  EXPECT_NE(refused([](ModelConfig& c) { c.d_ff = 0; }), "");
  EXPECT_NE(refused([](ModelConfig& c) { c.dropout = 1.0f; }), "");
  EXPECT_NE(refused([](ModelConfig& c) { c.eos_id = 23; }), "");
  EXPECT_EQ(refused([](ModelConfig& c) {
              c.n_heads = int64_t{1} << 20;
              c.head_dim = c.v_head_dim = 128;
            }),
            "num_attention_heads * head_dim is 134217728, expected 1 to 16777216");
  EXPECT_EQ(refused([](ModelConfig& c) { c.rotary_dim = 2; }),
            "rotary_dim, rope_local_base_freq and rope_layers need rotary positions without latent "
            "attention");
  EXPECT_EQ(refused([](ModelConfig& c) {
              c.positions = PositionKind::rotary;
              c.rotary_dim = 6;
            }),
            "rotary_dim is 6, expected 1 to 4");
  EXPECT_EQ(refused([](ModelConfig& c) { c.parallel_residual = true; }),
            "norm_placement is post, expected pre with use_parallel_residual");
}

TEST(Transformer, RefusesMoreWeightsThanCanBeCounted) {
  ModelConfig config = small_config();
  config.d_model = config.d_ff = config.vocab_size = int64_t{1} << 24;
  config.n_heads = int64_t{1} << 10;
  config.encoder_layers = config.decoder_layers = 4096;
  EXPECT_EQ(error_of([&] { Transformer(config, std::nullopt); }),
            "the model has more than 2^60 weights");
}

TEST(Transformer, WithoutWeightsNeedsNoMemoryForItsPositions) {
  ModelConfig config = small_config();
  config.d_model = 16;
  config.n_heads = 4;
  config.positions = PositionKind::sinusoidal;
  config.max_positions = int64_t{1} << 24;
  const auto before = std::chrono::steady_clock::now();
  Transformer(config, std::nullopt);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
  EXPECT_LT(seconds.count(), 1.0);  // the table of sinusoids takes tens of seconds and 1 GB
}

TEST(Transformer, RefusesInvalidInput) {
  const Transformer model(small_config(), 1);
  Context context;
  const std::vector<int32_t> unknown{3, 99}, two{0, 2}, longer(17, 3), seventeen{0, 17},
      hole{0, 0, 2};
  EXPECT_EQ(error_of([&] {
              model.encode(context, {unknown, two});
            }),
            "embedding: token 1 is 99, expected 0 to 22");
  EXPECT_EQ(error_of([&] {
              model.encode(context, {longer, seventeen});
            }),
            "source 0 has 17 tokens, the model reads at most 16");
  EXPECT_EQ(error_of([&] { model.encode(context, {two, hole}); }), "source 0 has no tokens");
}

TEST(ModelConfig, PaperSizesHaveThePapersParameters) {
  ModelConfig base;  // table 3 of the paper counts 65 million with a vocabulary of 37,000
  base.vocab_size = 37000;
  base.head_bias = false;
  EXPECT_NEAR(static_cast<double>(Transformer(base).parameters().count()), 63e6, 2e6);
}

}  // namespace
}  // namespace heed::model
