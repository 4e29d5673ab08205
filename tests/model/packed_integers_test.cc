// A model whose weights are stored in blocks and packed for integer products: in blocks in a
// decoder-only model, by rows in one with an encoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "heed/kernels/quantize.h"
#include "heed/model/transformer.h"
#include "tests/kernels/stored_testing.h"

namespace heed::model {
namespace {

const std::vector<int32_t> kTokens{5, 9, 1, 7, 8, 9, 10, 1}, kOffsets{0, 3, 8};

ModelConfig decoder_config() {
  ModelConfig config;
  config.vocab_size = 40;
  config.d_model = 64;
  config.encoder_layers = 0;
  config.decoder_layers = 2;
  config.n_heads = 2;
  config.d_ff = 96;
  config.max_positions = 16;
  config.positions = PositionKind::learned;
  config.dropout = 0.0f;
  return config;
}

void quantise_matrices(Transformer& model, DType dtype = DType::q8_0) {
  for (Parameter& parameter : model.parameters().all())
    if (parameter.shape.rank() == 2) {
      Tensor blocks = Tensor::empty(parameter.shape, dtype);
      kernels::quantize(parameter.value, blocks);
      parameter.value = blocks;
    }
}

ModelConfig encoder_decoder_config() {
  ModelConfig config = decoder_config();
  config.encoder_layers = 1;
  return config;
}

Tensor logits_of(const Transformer& model) {
  Context context;
  model::Memory memory;
  if (model.has_encoder()) memory = model.encode(context, {kTokens, kOffsets});
  return model.logits(context, model.decode_all(context, {kTokens, kOffsets}, memory));
}

TEST(PackedIntegers, LogitsStayNearThoseOfUnpackedWeights) {
  for (const ModelConfig& config : {decoder_config(), encoder_decoder_config()}) {
    Transformer model(config, 1);
    quantise_matrices(model);
    const Tensor exact = logits_of(model);
    model.pack(Compute::int8);
    const Tensor packed = logits_of(model);
    EXPECT_FALSE(kernels::same_bits(packed, exact));
    double error = 0.0, length = 0.0;
    for (int64_t i = 0; i < exact.elements(); ++i) {
      const double value = exact.data<float>()[i];
      error += std::pow(packed.data<float>()[i] - value, 2.0);
      length += value * value;
    }
    EXPECT_LT(std::sqrt(error / length), 0.02);
    model.unpack();
    EXPECT_TRUE(kernels::same_bits(logits_of(model), exact));
  }
}

TEST(PackedIntegers, OnlyQ8_0WeightsOfModelsWithAnEncoderGetOneScalePerRow) {
  for (const ModelConfig& config : {decoder_config(), encoder_decoder_config()})
    for (const DType dtype : {DType::q8_0, DType::q4_0}) {
      Transformer model(config, 1);
      quantise_matrices(model, dtype);
      model.pack(Compute::int8);
      const bool per_channel = config.encoder_layers > 0 && dtype == DType::q8_0;
      for (const Parameter& parameter : model.parameters().all())
        if (parameter.role == WeightRole::ff_up && parameter.shape.rank() == 2) {
          EXPECT_EQ(parameter.packed.has_int8(), per_channel) << name_of(dtype);
          EXPECT_EQ(parameter.packed.has_blocks(), !per_channel) << name_of(dtype);
        }
    }
}

/// As T5, with enough heads that the rows of the table of relative positions are whole blocks.
ModelConfig relative_config() {
  ModelConfig config = encoder_decoder_config();
  config.positions = PositionKind::relative;
  config.n_heads = 32;
  config.head_dim = 2;
  return config;
}

TEST(PackedIntegers, LookupTablesAreNotPacked) {
  const std::set<std::string> tables{"model.encoder.embed_positions.weight",
                                     "model.decoder.embed_positions.weight",
                                     "model.encoder.relative_attention_bias.weight",
                                     "model.decoder.relative_attention_bias.weight"};
  for (ModelConfig config : {decoder_config(), encoder_decoder_config(), relative_config()})
    for (const bool tied : {true, false}) {
      config.tied_head = tied;
      Transformer model(config, 1);
      quantise_matrices(model);
      model.pack(Compute::int8);
      for (const Parameter& parameter : model.parameters().all()) {
        const bool table =
            parameter.name == "model.shared.weight" ? !tied : tables.contains(parameter.name);
        EXPECT_EQ(parameter.packed.multiplies_integers(), parameter.shape.rank() == 2 && !table)
            << parameter.name;
      }
    }
}

}  // namespace
}  // namespace heed::model
