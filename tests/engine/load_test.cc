// The decisions that make the obvious call the fast one.
#include "heed/engine/load.h"

#include <gtest/gtest.h>

#include "heed/engine/loaded_model.h"
#include "heed/generate/cached_decoder.h"
#include "heed/io/safetensors.h"
#include "heed/quantize/precision.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

bool has_matrices_in(const Model& model, DType dtype) {
  for (const Parameter& parameter : loaded(model).transformer->parameters().all())
    if (parameter.shape.rank() == 2 && parameter.value.dtype() == dtype) return true;
  return false;
}

TEST(Load, WeightTypesAreTheTypesThatHeedWrites) {
  std::vector<std::string> names;
  for (const WeightType type :
       {WeightType::f32, WeightType::bf16, WeightType::q8_0, WeightType::q6_K, WeightType::q5_1,
        WeightType::q5_0, WeightType::q5_K, WeightType::q4_1, WeightType::q4_0, WeightType::q4_K})
    names.emplace_back(name_of(dtype_of(type)));
  EXPECT_EQ(names, quantize::precision_names());
}

TEST(Load, ReadsEverythingFromAGgufFileThatWasOpenedOnce) {
  TemporaryDirectory folder;
  const std::filesystem::path path = folder / "model.gguf";
  std::filesystem::copy_file(
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/gguf_models/embed-bert.gguf", path);
  const io::ModelFiles files(path), copy = files;
  EXPECT_EQ(files.gguf(), copy.gguf());
  std::filesystem::remove(path);
  const auto transformer = load_transformer(files, {});
  EXPECT_GT(read_tokenizer(files).vocab_size(), 0);
  EXPECT_EQ(generate::read_generation_config(files, transformer->config()).rules.eos_ids,
            transformer->config().eos_ids());
  EXPECT_EQ(tasks::read_embedder_options(files).pooling, std::vector{Pooling::cls});
  EXPECT_THROW(load_transformer(path, {}), Error);
}

TEST(Load, WidensMatricesOf16BitsForEncodersOnly) {
  TemporaryDirectory folder;
  write_encoder(folder / "encoder", false);
  write_decoder(folder / "decoder");
  store_in_16_bits(folder / "encoder");
  store_in_16_bits(folder / "decoder");
  EXPECT_FALSE(has_matrices_in(Model::load(folder / "encoder"), DType::bf16));
  EXPECT_TRUE(has_matrices_in(Model::load(folder / "decoder"), DType::bf16));
  EXPECT_TRUE(
      has_matrices_in(Model::load(folder / "encoder", {.compute = Compute::bf16}), DType::bf16));
  EXPECT_TRUE(
      has_matrices_in(Model::load(folder / "encoder", {.weights = WeightType::bf16}), DType::bf16));
}

TEST(Load, Int8QuantisesWeightsThatAreNot) {
  const Model plain = Model::load(models().decoder());
  EXPECT_FALSE(generate::computes_in_int8(*loaded(plain).transformer));
  const Model int8 = Model::load(models().decoder(), {.compute = Compute::int8});
  EXPECT_TRUE(generate::computes_in_int8(*loaded(int8).transformer));
  EXPECT_TRUE(has_matrices_in(int8, DType::q8_0));
  const Model blocks = Model::load(models().decoder(), {.weights = WeightType::q4_0});
  EXPECT_TRUE(generate::computes_in_int8(*loaded(blocks).transformer));
  EXPECT_FALSE(int8.generate("the", {.max_new_tokens = 4}).tokens.empty());
}

TEST(Load, OptionsDecideTheTypesOfActivationsAndCache) {
  const Model bf16 =
      Model::load(models().decoder(), {.compute = Compute::bf16, .cache = CacheType::f32});
  EXPECT_EQ(loaded(bf16).activations(), DType::bf16);
  EXPECT_EQ(loaded(bf16).generator_options({}).cache_dtype, DType::f32);
  const Model plain = Model::load(models().decoder());
  EXPECT_EQ(loaded(plain).generator_options({}).cache_dtype, std::nullopt);
  const Model int8 = Model::load(models().translator(), {.cache = CacheType::int8});
  EXPECT_EQ(loaded(int8).cache(), DType::q8_0);
}

TEST(Load, RandomWeightsNeedOnlyAConfiguration) {
  TemporaryDirectory folder;
  write_decoder(folder / "model");
  std::filesystem::remove(folder / "model" / "model.safetensors");
  const Model model = Model::load(folder / "model", {.random_weights = 4});
  EXPECT_FALSE(model.generate("the", {.max_new_tokens = 4}).tokens.empty());
  EXPECT_THROW(Model::load(folder / "model"), Error);
}

}  // namespace
}  // namespace heed::engine
