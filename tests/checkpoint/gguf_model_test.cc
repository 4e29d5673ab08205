// Models in GGUF files written by llama.cpp's converter (tests/golden/gguf_models/make.py),
// compared with the original checkpoints.
#include "heed/checkpoint/gguf/model.h"

#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "heed/kernels/matmul.h"
#include "tests/checkpoint/decoding.h"
#include "tests/checkpoint/golden.h"
#include "tests/io/gguf_bytes.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

class GgufModels : public ::testing::TestWithParam<const char*> {
 protected:
  const fs::path original_ = golden_folder("families") / GetParam();
  const fs::path converted_ = golden_folder("gguf_models") / (GetParam() + std::string(".gguf"));
};

TEST_P(GgufModels, HaveTheConfigurationOfTheOriginal) {
  model::ModelConfig found = open_gguf_model(converted_).config;
  model::ModelConfig expected = config_of(original_ / "config.json");
  expected.family = found.family;
  // Some fields are not in the files: heed assumes those of the published models.
  if (found.family == "gemma" || found.family == "gemma2" || found.family == "gpt_neox") {
    EXPECT_EQ(found.rotary_theta, 10000.0);
    found.rotary_theta = expected.rotary_theta;
  }
  if (found.family == "gemma2" || found.family == "gemma3_text") {
    EXPECT_FLOAT_EQ(found.attention_scale, 1.0f / std::sqrt(6.0f));
    found.attention_scale = expected.attention_scale;
  }
  if (found.family == "gemma3_text") {
    EXPECT_EQ(found.windows, (std::vector<int64_t>{4, 4, 4}));  // every sixth has none
    found.windows = expected.windows;
  }
  if (found.rotary_scaling.kind == nn::RotaryScaling::Kind::longrope) {
    // The file has the attention factor that heed would compute.
    EXPECT_NEAR(found.rotary_scaling.attention_factor,
                std::sqrt(1.0 + std::log(128.0 / 40.0) / std::log(40.0)), 1e-6);
    found.rotary_scaling.attention_factor = 0.0;
  }
  if (found.family == "smollm3") {
    EXPECT_EQ(found.rotary_layers, std::vector<int64_t>());  // every fourth has none
    found.rotary_layers = expected.rotary_layers;
  }
  if (found.family == "deepseek_v2") {
    // The file has one number for two that are equal in the published models, but not here.
    EXPECT_NEAR(found.rotary_scaling.mscale_all_dim, expected.rotary_scaling.mscale_all_dim, 1e-6);
    EXPECT_NEAR(found.attention_scale, expected.attention_scale, 1e-6);
    found.rotary_scaling = expected.rotary_scaling;
    found.attention_scale = expected.attention_scale;
  }
  EXPECT_EQ(model::family_of_type("heed", "").write_config(found),
            model::family_of_type("heed", "").write_config(expected));
}

TEST_P(GgufModels, HaveNothingThatIsIgnored) {
  EXPECT_EQ(open_gguf_model(converted_).config.warnings, std::vector<std::string>());
}

TEST_P(GgufModels, HaveTheWeightsOfTheOriginal) {
  const auto found = load_model(converted_), expected = load_model(original_);
  // Adding 1 to Gemma's norms and subtracting it again causes rounding errors.
  const double tolerance = found->config().norm_unit_offset ? 1e-6 : 0.0;
  for (const Parameter& parameter : expected->parameters().all())
    EXPECT_LE(difference(found->parameters().named(parameter.name).value, parameter.value),
              tolerance)
        << parameter.name;
}

TEST_P(GgufModels, PackedWhileLoadingGiveTheSameLogitsAndKeepNoUnpackedCopies) {
  const auto in_bf16 = [&](std::optional<Compute> pack) {
    return load_model(converted_, {.precision = {.dtype = DType::bf16}, .pack = pack});
  };
  const auto found = in_bf16(Compute::bf16), expected = in_bf16({});
  expected->pack(Compute::bf16);
  const std::vector<int32_t> ids{5, 9, 2, 3, 7}, offsets{0, 5};
  const auto logits_of = [&](const model::Transformer& model) {
    Context context{.dtype = DType::bf16};
    return model.logits(context, model.decode_all(context, {ids, offsets}));
  };
  EXPECT_EQ(difference(logits_of(*found), logits_of(*expected)), 0.0);
  const std::string name = "model.decoder.layers.0.self_attn.o_proj.weight";
  const Parameter& packed = found->parameters().named(name);
  // Without instructions for bf16, decoders read weights as they are stored (Transformer::packs).
  const bool packs = expected->parameters().named(name).packed.defined();
  EXPECT_TRUE(packs || !kernels::multiplies_bf16_faster());
  EXPECT_EQ(packed.present(), !packs);
  if (!packs) return;
  EXPECT_EQ(packed.value.shape(), packed.shape);
  expect_error([&] { packed.read(DType::bf16); }, "freed when it was packed");
  expect_error([&] { found->unpack(); }, "freed when it was packed");
}

TEST_P(GgufModels, GiveTheLogitsOfTheReference) {
  const std::string name = GetParam();
  // See the configurations above.
  for (const char* other : {"gemma", "gemma2", "gemma3", "smollm3", "gpt-neox",
                            "gpt-neox-sequential", "deepseek-v2-group"})
    if (name == other) return;
  const auto expected = io::SafetensorsFile::open(original_ / "expected.safetensors");
  const auto ids = integers(expected->get("input_ids")),
             offsets = integers(expected->get("offsets"));
  const auto model = load_model(converted_, {.precision = {.dtype = std::nullopt}});
  Context context;
  const Tensor logits = model->logits(context, model->decode_all(context, {ids, offsets}));
  EXPECT_LT(difference(logits, expected->get("logits")), 1e-4);
}

TEST_P(GgufModels, SaveTheOriginalModelDirectory) {
  const TemporaryDirectory folder;
  save_model(folder.path(), *load_model(converted_), {});
  EXPECT_EQ(io::SafetensorsFile::open(folder / "model.safetensors")->names(),
            io::SafetensorsFile::open(original_ / "model.safetensors")->names());
}

INSTANTIATE_TEST_SUITE_P(Converted, GgufModels,
                         ::testing::Values("llama3", "llama-bias", "llama-yarn", "qwen2", "qwen3",
                                           "gemma2", "gpt2", "deepseek-v2-group", "gemma", "gemma3",
                                           "granite", "olmo2", "smollm3", "qwen3-moe", "mixtral",
                                           "phi3", "phi3-longrope", "gpt-neox",
                                           "gpt-neox-sequential", "deepseek-v3", "gpt-oss"),
                         case_name);

TEST(GgufT5, GivesTheStatesAndLogitsOfTheOriginal) {
  for (const std::string name : {"t5", "t5-v1.1"}) {
    const auto folder = golden_folder("families") / name;
    const auto expected = io::SafetensorsFile::open(folder / "expected.safetensors");
    const auto ids_of = [&](const char* tensor) { return integers(expected->get(tensor)); };
    const auto source = ids_of("source_ids"), source_offsets = ids_of("source_offsets");
    const auto states_of = [&](const model::Transformer& model) {
      Context context;
      return model.encode(context, {source, source_offsets});
    };
    const auto logits_of = [&](const model::Transformer& model) {
      Context context;
      const Tensor states =
          model.decode_all(context, {ids_of("input_ids"), ids_of("offsets")}, states_of(model));
      return model.logits(context, states);
    };
    const auto found = load_model(golden_folder("gguf_models") / (name + ".gguf"));
    // The largest distance is not in the files: it is that of all published models.
    model::ModelConfig config = config_of(folder / "config.json");
    EXPECT_EQ(found->config().relative_max_distance, 128);
    config.relative_max_distance = 128;
    config.family = "t5";
    EXPECT_EQ(found->config(), config);
    model::Transformer original(config, std::nullopt);
    load_weights(original, model::family_for(config),
                 *io::SafetensorsFile::open(folder / "model.safetensors"));
    EXPECT_EQ(difference(logits_of(*found), logits_of(original)), 0.0) << name;
    if (name != "t5") continue;
    const auto encoder = load_model(golden_folder("gguf_models") / "t5-encoder.gguf");
    EXPECT_FALSE(encoder->has_decoder());
    EXPECT_EQ(difference(states_of(*encoder).states, states_of(original).states), 0.0);
    const TemporaryDirectory saved;
    save_model(saved.path(), *encoder, {});
    EXPECT_FALSE(load_model(saved.path())->has_decoder());
  }
}

/// The error message for a GGUF file with these bytes.
std::string refusal(const io::GgufBytes& bytes, const std::string& data = "") {
  const TemporaryDirectory folder;
  write_quickly(folder / "some.gguf", bytes.bytes(data));
  try {
    build_model(folder / "some.gguf");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

io::GgufBytes of_architecture(const std::string& name) {
  io::GgufBytes bytes;
  bytes.value("general.architecture", io::GgufType::string, io::GgufBytes::text(name));
  return bytes;
}

TEST(GgufModelRefusals, NameTheFault) {
  EXPECT_NE(refusal({}).find("general.architecture"), std::string::npos);
  EXPECT_NE(refusal(of_architecture("mamba")).find("\"mamba\", expected one of bert, deepseek2"),
            std::string::npos);
  EXPECT_NE(refusal(of_architecture("llama")).find("llama.embedding_length"), std::string::npos);
  io::GgufBytes deep = of_architecture("gpt2");
  for (const char* key :
       {"embedding_length", "attention.head_count", "feed_forward_length", "context_length"})
    deep.value(fmt::format("gpt2.{}", key), io::GgufType::u32, io::GgufBytes::number(uint32_t{2}));
  deep.value("gpt2.attention.layer_norm_epsilon", io::GgufType::f32, io::GgufBytes::number(1e-5f));
  EXPECT_NE(refusal(deep).find("token_embd.weight"), std::string::npos);
  deep.value("gpt2.block_count", io::GgufType::u32, io::GgufBytes::number(uint32_t{1} << 30))
      .tensor("token_embd.weight", {2, 2}, 0, 0);
  EXPECT_NE(refusal(deep, std::string(16, '\0')).find("block_count is 1073741824, expected 1 to 1"),
            std::string::npos);
}

/// A Llama of one layer of width 8 without its weights but the embedding.
io::GgufBytes small_llama() {
  io::GgufBytes bytes = of_architecture("llama");
  for (const auto& [key, number] : {std::pair{"embedding_length", 8},
                                    {"block_count", 1},
                                    {"attention.head_count", 2},
                                    {"feed_forward_length", 12},
                                    {"context_length", 32}})
    bytes.value(fmt::format("llama.{}", key), io::GgufType::u32,
                io::GgufBytes::number(static_cast<uint32_t>(number)));
  bytes.value("llama.attention.layer_norm_rms_epsilon", io::GgufType::f32,
              io::GgufBytes::number(1e-5f));
  return bytes.tensor("token_embd.weight", {8, 20}, 0, 0);
}

model::ModelConfig built_config(const io::GgufBytes& bytes) {
  const TemporaryDirectory folder;
  write_quickly(folder / "some.gguf", bytes.bytes(std::string(640, '\0')));
  return build_model(folder / "some.gguf")->config();
}

io::GgufBytes with_number(const char* key, float number) {
  return small_llama().value(key, io::GgufType::f32, io::GgufBytes::number(number));
}

// As llama.cpp reads them.
TEST(GgufRotary, AFactorWithoutATypeIsLinearAndSoIsItsOlderKey) {
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    const nn::RotaryScaling scaling = built_config(with_number(key, 4.0f)).rotary_scaling;
    EXPECT_EQ(scaling.kind, nn::RotaryScaling::Kind::linear) << key;
    EXPECT_EQ(scaling.factor, 4.0) << key;
  }
  EXPECT_EQ(built_config(with_number("llama.rope.scale_linear", 1.0f)).rotary_scaling.kind,
            nn::RotaryScaling::Kind::none);
  EXPECT_EQ(built_config(with_number("llama.rope.scaling.factor", 4.0f)
                             .value("llama.rope.scaling.type", io::GgufType::string,
                                    io::GgufBytes::text("none")))
                .rotary_scaling.kind,
            nn::RotaryScaling::Kind::none);
}

TEST(GgufMetadataKeys, AreAppliedRefusedOrNamedInAWarning) {
  const auto boolean = [](bool value) { return io::GgufBytes::number(uint8_t{value}); };
  EXPECT_EQ(built_config(small_llama().value("llama.attention.causal", io::GgufType::boolean,
                                             boolean(false)))
                .decoder_layers,
            0);
  EXPECT_NE(refusal(with_number("llama.rope.scaling.attn_factor", 2.0f), std::string(640, '\0'))
                .find("llama.rope.scaling.attn_factor is 2, expected 1"),
            std::string::npos);
  const auto warnings = built_config(with_number("llama.attention.clamp_kqv", 2.0f)).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("llama.attention.clamp_kqv is 2.0 and is ignored"), std::string::npos);
}

TEST(GgufModelRefusals, NameAMissingFile) {
  const TemporaryDirectory folder;
  try {
    load_model(folder / "none.gguf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("none.gguf"), std::string::npos);
  }
}

class GgufEncoders : public ::testing::TestWithParam<const char*> {
 protected:
  const fs::path original_ = golden_folder("encoders") / GetParam();
  const fs::path converted_ = golden_folder("gguf_models") / (GetParam() + std::string(".gguf"));
};

TEST_P(GgufEncoders, HaveTheConfigurationOfTheOriginalWithoutPooler) {
  const model::ModelConfig found = open_gguf_model(converted_).config;
  model::ModelConfig expected = config_of(original_ / "config.json");
  expected.family = found.family;
  expected.pooler = false;
  // Not in the files, or from another member of the original.
  expected.dropout = found.dropout;
  expected.attention_dropout = found.attention_dropout;
  expected.bos_id = found.bos_id;
  expected.eos_id = found.eos_id;
  expected.classifier.sigmoid_score = found.classifier.sigmoid_score;
  EXPECT_EQ(model::family_of_type("heed", "").write_config(found),
            model::family_of_type("heed", "").write_config(expected));
}

TEST_P(GgufEncoders, HaveTheWeightsOfTheOriginal) {
  const auto found = load_model(converted_), expected = load_model(original_);
  for (const Parameter& parameter : found->parameters().all()) {
    const Tensor value = expected->parameters().named(parameter.name).value;
    // No token reads RoBERTa's first positions, which the file lacks.
    const bool positions = parameter.name.ends_with("embed_positions.weight");
    const int64_t first = positions ? found->config().first_position : 0;
    EXPECT_EQ(difference(parameter.value.row_slice(first, parameter.value.rows()),
                         value.row_slice(first, value.rows())),
              0.0)
        << parameter.name;
  }
}

TEST_P(GgufEncoders, SaveAndLoadAsAModelDirectory) {
  const TemporaryDirectory folder;
  const auto original = load_model(converted_);
  save_model(folder.path(), *original, {});
  const auto saved = load_model(folder.path());
  EXPECT_EQ(saved->config(), original->config());
}

INSTANTIATE_TEST_SUITE_P(Files, GgufEncoders,
                         ::testing::Values("embed-bert", "embed-nomic-bert", "embed-modernbert",
                                           "embed-roberta", "embed-xlm-roberta", "rerank"),
                         case_name);

}  // namespace
}  // namespace heed::checkpoint
