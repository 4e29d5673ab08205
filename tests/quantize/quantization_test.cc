#include "heed/quantize/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "heed/checkpoint/model_directory.h"
#include "heed/kernels/quantize.h"
#include "heed/ops/linear.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::quantize {
namespace {

using checkpoint::case_name;
using checkpoint::golden_folder;
using kernels::normals;

Parameter weight_of(const Shape& shape) {
  Parameter weight;
  weight.name = "model.decoder.layers.0.fc1.weight";
  weight.shape = shape;
  weight.value = normals(shape, 1);
  return weight;
}

TEST(Calibration, WithOnlyTheDiagonalIsRelativeToTheMean) {
  Parameter weight = weight_of({5, 4}), none;
  Calibration calibration(0);
  EXPECT_TRUE(calibration.empty());
  Context context;
  calibration.watch(context);
  const std::vector<float> first{1, 0, 2, 3}, second{3, 0, 0, 3, 0, 0, 2, 0};
  ops::linear(context, Tensor::of({1, 4}, first), weight, none);
  ops::linear(context, Tensor::of({2, 4}, second), weight, none);
  EXPECT_FALSE(calibration.empty());
  calibration.finish();
  const GptqFactors* found = calibration.of(weight.name, 4);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->upper.defined());
  const double expected[] = {10.0 / 9, 0, 8.0 / 9, 2};  // 10, 0, 8 and 18 of 36
  for (int64_t k = 0; k < 4; ++k)
    EXPECT_NEAR(found->diagonal.data<float>()[k], expected[k] + 0.01, 1e-6);
}

TEST(Calibration, HasNoFactorsForWeightsWithoutInputs) {
  for (const int64_t bytes : {0, 1 << 20}) {
    Calibration calibration(bytes);
    const Parameter weight = weight_of({5, 4});
    calibration.observe(weight, Tensor::zeros({3, 4}));
    calibration.finish();
    EXPECT_EQ(calibration.of("another", 4), nullptr);
    EXPECT_EQ(calibration.of(weight.name, 4), nullptr);  // all were zero
  }
}

TEST(Calibration, RejectsAnotherModel) {
  Calibration calibration;
  const Parameter weight = weight_of({5, 4});
  calibration.observe(weight, normals({3, 4}, 2));
  expect_error(
      [&] {
        calibration.observe(weight, normals({3, 8}, 2));
      },
      "had 4 columns before, and now 8");
  calibration.finish();
  expect_error([&] { calibration.of(weight.name, 8); },
               "model.decoder.layers.0.fc1.weight has 8 columns, but 4 were observed: the "
               "calibration is of another model");
}

TEST(Calibration, CountsAnInputOfSeveralWeightsOnce) {
  Parameter keys = weight_of({5, 32}), values = weight_of({5, 32});
  values.name = "another";
  const Tensor x = normals({40, 32}, 3);
  Calibration once, twice;
  once.observe(keys, x);
  for (const Parameter* weight : {&keys, &values, &keys}) twice.observe(*weight, x);
  once.finish();
  twice.finish();
  const GptqFactors* expected = once.of(keys.name, 32);
  for (const Parameter* weight : {&keys, &values})
    for (int64_t k = 0; k < 32; ++k)
      EXPECT_EQ(twice.of(weight->name, 32)->diagonal.data<float>()[k],
                expected->diagonal.data<float>()[k]);
}

TEST(Calibration, RejectsInputsThatAreNotFinite) {
  for (const int64_t bytes : {0, 1 << 20}) {
    Calibration calibration(bytes);
    calibration.observe(weight_of({5, 4}), Tensor::full({3, 4}, HUGE_VALF));
    expect_error([&] { calibration.finish(); }, "not finite");
  }
}

/// A parameter in the middle of a stack.
Parameter parameter_of(WeightRole role) {
  Parameter parameter;
  parameter.role = role;
  parameter.place = {.layer = 3, .n_layers = 7};
  return parameter;
}

TEST(Quantization, GivesFourBitsOnlyToMatricesOfLayers) {
  const Shape matrix{8, 64};
  for (const DType dtype : {DType::q4_0, DType::q4_1}) {
    const auto kept = [&](WeightRole role, const Shape& shape) {
      return quantized_dtype(dtype, parameter_of(role), shape, DType::f32);
    };
    using enum WeightRole;
    for (const WeightRole role : {query, output, ff_up, ff_down})
      EXPECT_EQ(kept(role, matrix), dtype);
    for (const WeightRole role :
         {token_embedding, position_embedding, token_type_embedding, relative_bias, key_value,
          latent_key_value, cross_key_value, router, head_transform, pooler, head, other})
      EXPECT_EQ(kept(role, matrix), DType::q8_0);
    EXPECT_EQ(kept(ff_up, {8, 63}), DType::bf16);
    EXPECT_EQ(kept(ff_up, {64}), DType::f32);
  }
  EXPECT_EQ(quantized_dtype(DType::bf16, parameter_of(WeightRole::head), matrix, DType::f32),
            DType::bf16);
}

TEST(Quantization, KeepsKvAProjAndKvBProjIn8Bits) {
  model::ModelConfig config;
  config.vocab_size = 8;
  config.d_model = 64;
  config.encoder_layers = 0;
  config.decoder_layers = 1;
  config.n_heads = 2;
  config.head_dim = 64;
  config.positions = model::PositionKind::rotary;
  config.latent = {.kv_lora_rank = 32, .q_lora_rank = 32, .qk_rope_head_dim = 32};
  const model::Transformer model(config, std::nullopt);
  std::map<std::string, DType> kept;
  const std::string prefix = "model.decoder.layers.0.self_attn.";
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.name.starts_with(prefix) && parameter.shape.rank() == 2)
      kept[parameter.name.substr(prefix.size())] =
          quantized_dtype(DType::q4_0, parameter, parameter.shape, DType::f32);
  EXPECT_EQ(kept, (std::map<std::string, DType>{{"kv_a_proj.weight", DType::q8_0},
                                                {"kv_b_proj.weight", DType::q8_0},
                                                {"q_a_proj.weight", DType::q4_0},
                                                {"q_b_proj.weight", DType::q4_0},
                                                {"o_proj.weight", DType::q4_0}}));
}

TEST(Quantization, KeepsFfDownOfTheFirstAndLastLayersIn8Bits) {
  model::ModelConfig config;
  config.vocab_size = 8;
  config.d_model = config.d_ff = 32;
  config.n_heads = 1;
  config.encoder_layers = 7;
  config.decoder_layers = 17;
  model::Transformer model(config, std::nullopt);
  const auto kept = [&](const char* stack, int layer, DType wanted) {
    const auto& parameter =
        model.parameters().named(fmt::format("model.{}.layers.{}.fc2.weight", stack, layer));
    return quantized_dtype(wanted, parameter, parameter.shape, DType::f32);
  };
  for (int layer = 0; layer < 17; ++layer)
    EXPECT_EQ(kept("decoder", layer, DType::q4_0),
              layer < 2 || layer >= 15 ? DType::q8_0 : DType::q4_0)
        << layer;
  for (int layer = 0; layer < 7; ++layer)
    EXPECT_EQ(kept("encoder", layer, DType::q4_0), DType::q4_0) << layer;
  EXPECT_EQ(kept("decoder", 16, DType::bf16), DType::bf16);
}

class QuantizedModel : public testing::TestWithParam<const char*> {};

TEST_P(QuantizedModel, ObservesEveryLayerAndRunsAfterwards) {
  const auto folder = golden_folder("families") / GetParam();
  const auto original = checkpoint::load_model(folder);
  Quantization how{.dtype = DType::q4_0};
  Context context;
  how.calibration.watch(context);
  std::vector<int32_t> tokens(24);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(3 + i % 20);
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  const auto states = [&](const model::Transformer& model, Context& with) {
    model::Memory memory;
    if (model.has_encoder()) memory = model.encode(with, {tokens, offsets});
    return model.has_decoder() ? model.decode_all(with, {tokens, offsets}, memory) : memory.states;
  };
  states(*original, context);
  how.calibration.finish();
  // The inputs of every matrix of a layer were observed.
  for (const Parameter& parameter : original->parameters().all()) {
    const DType dtype = quantized_dtype(how.dtype, parameter, parameter.shape, DType::f32);
    if (dtype != DType::q4_0 || parameter.place.expert) continue;
    EXPECT_TRUE(how.calibration.of(parameter.name, parameter.shape[1])) << parameter.name;
  }
  const auto smaller = checkpoint::load_model(folder);
  quantize(*smaller, how);
  Context plain;
  const Tensor found = states(*smaller, plain), expected = states(*original, plain);
  for (const float value : found.values<float>()) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(found.shape(), expected.shape());
}

TEST_P(QuantizedModel, EqualsTheModelQuantisedWhileLoading) {
  const auto folder = golden_folder("families") / GetParam();
  for (const DType dtype : {DType::q4_0, DType::q8_0}) {
    const auto quantised = checkpoint::load_model(folder, {.precision = {std::nullopt}});
    quantize(*quantised, {.dtype = dtype});
    const auto loaded = checkpoint::load_model(folder, {.precision = {dtype}});
    for (size_t i = 0; i < loaded->parameters().all().size(); ++i) {
      const Parameter& found = loaded->parameters().all()[i];
      const Tensor expected = quantised->parameters().all()[i].value;
      ASSERT_EQ(found.value.dtype(), expected.dtype()) << found.name;
      EXPECT_EQ(
          std::memcmp(found.value.raw(), expected.raw(), static_cast<size_t>(expected.bytes())), 0)
          << found.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, QuantizedModel,
                         testing::Values("bart", "bert-pooled", "deepseek-v2", "gemma2", "gpt2",
                                         "llama3", "t5-v1.1"),
                         case_name);

}  // namespace
}  // namespace heed::quantize
