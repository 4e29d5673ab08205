#include "heed/checkpoint/gguf/save_quantized.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf/gguf_file.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"
#include "tests/io/gguf_bytes.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

class QuantizedGguf : public testing::TestWithParam<const char*> {
 protected:
  const fs::path original_ = golden_folder("gguf_models") / (GetParam() + std::string(".gguf"));
  const TemporaryDirectory folder_;
  const fs::path path_ = folder_ / "model.gguf";
};

TEST_P(QuantizedGguf, HoldsTheConvertedTensors) {
  const auto was = io::GgufFile::open(original_);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1, DType::bf16}) {
    write_quantized_gguf(path_, original_, {.dtype = dtype});
    const auto is = io::GgufFile::open(path_);
    ASSERT_EQ(is->names(), was->names());
    constexpr size_t npos = std::string::npos;
    const bool four_bits = dtype == DType::q4_0 || dtype == DType::q4_1;
    for (const std::string& name : was->names()) {
      const bool four = name.starts_with("blk.") && name.find("ffn_gate_inp.") == npos &&
                        name.find("attn_k.") == npos && name.find("attn_v.") == npos &&
                        name.find("attn_qkv.") == npos && name.find("attn_kv_") == npos &&
                        name.find("attn_k_b.") == npos && name.find("attn_v_b.") == npos;
      const bool vectors = name.ends_with("_exps.bias");
      const DType wanted = vectors ? DType::f32 : four_bits && !four ? DType::q8_0 : dtype;
      const Tensor expected = quantize::in_precision(was->get(name), {wanted}),
                   found = is->get(name);
      ASSERT_EQ(found.dtype(), expected.dtype()) << name;
      ASSERT_EQ(found.shape(), expected.shape()) << name;
      EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), static_cast<size_t>(expected.bytes())), 0)
          << name;
    }
    EXPECT_NO_THROW(load_model(path_));
  }
}

TEST_P(QuantizedGguf, CopiesTheMetadata) {
  const auto was = io::GgufFile::open(original_);
  write_quantized_gguf(path_, original_, {.dtype = DType::q8_0});
  const auto is = io::GgufFile::open(path_);
  EXPECT_EQ(is->metadata().keys(), was->metadata().keys());
  EXPECT_EQ(is->metadata().get<std::string>("general.architecture"),
            was->metadata().get<std::string>("general.architecture"));
  constexpr int64_t kFileTypeQ8 = 7;
  EXPECT_EQ(is->metadata().get<int64_t>("general.file_type"), kFileTypeQ8);
}

/// The file has the same weights as the model quantised in memory, although calibration is by
/// parameter: parameters can be parts of tensors (experts, GPT-2's q_proj), with permuted rows.
TEST_P(QuantizedGguf, GivesTheTensorsOfTheQuantisedModel) {
  const auto model = load_model(original_, {.precision = {std::nullopt}});
  quantize::Quantization how{.dtype = DType::q4_0};
  uint64_t seed = 1;
  for (Parameter& parameter : model->parameters().all())
    if (parameter.shape.rank() == 2)
      how.calibration.observe(parameter, kernels::normals({9, parameter.shape[1]}, ++seed));
  how.calibration.finish();
  write_quantized_gguf(path_, original_, how);
  quantize::quantize(*model, how);
  const auto opened = load_model(path_, {.precision = {std::nullopt}});
  for (size_t i = 0; i < model->parameters().all().size(); ++i) {
    const Parameter& found = opened->parameters().all()[i];
    const Parameter& expected = model->parameters().all()[i];
    // Split in the file, or stored together with k_proj and v_proj.
    if (found.name.find("kv_b_proj") != std::string::npos ||
        (model->config().family == "gpt2" && found.name.find("q_proj") != std::string::npos))
      continue;
    ASSERT_EQ(found.value.dtype(), expected.value.dtype()) << found.name;
    EXPECT_EQ(std::memcmp(found.value.raw(), expected.value.raw(),
                          static_cast<size_t>(expected.value.bytes())),
              0)
        << found.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, QuantizedGguf,
                         testing::Values("llama3", "gemma2", "gpt2", "qwen3", "deepseek-v2-group",
                                         "mixtral", "phi3", "gpt-oss"),
                         case_name);

/// A DeepSeek-V2 file with only the matrices of one layer's attention, which is enough to convert.
/// Newer files split kv_b_proj into two tensors.
std::string latent_attention_file(bool newer) {
  using io::GgufBytes;
  GgufBytes file;
  file.value("general.architecture", io::GgufType::string, GgufBytes::text("deepseek2"));
  const auto count = [&](const char* key, uint32_t value) {
    file.value(std::string("deepseek2.") + key, io::GgufType::u32, GgufBytes::number(value));
  };
  for (const auto& [key, value] : {std::pair{"block_count", 1},
                                   {"embedding_length", 64},
                                   {"feed_forward_length", 64},
                                   {"context_length", 16},
                                   {"attention.head_count", 2},
                                   {"attention.kv_lora_rank", 32},
                                   {"attention.key_length", 96},
                                   {"attention.value_length", 32},
                                   {"rope.dimension_count", 64},
                                   {"expert_count", 2},
                                   {"expert_used_count", 1},
                                   {"expert_feed_forward_length", 32}})
    count(key, static_cast<uint32_t>(value));
  if (newer) count("attention.key_length_mla", 96);
  if (newer) count("attention.value_length_mla", 32);
  file.value("deepseek2.attention.layer_norm_rms_epsilon", io::GgufType::f32,
             GgufBytes::number(1e-6f));
  uint64_t end = 0;
  const auto matrix = [&](const char* name, const std::vector<uint64_t>& sizes) {
    file.tensor(name, sizes, 0, end);
    uint64_t bytes = sizeof(float);
    for (const uint64_t size : sizes) bytes *= size;
    end += bytes;
  };
  matrix("token_embd.weight", {64, 8});
  matrix("blk.0.attn_q.weight", {64, 192});
  matrix("blk.0.attn_kv_a_mqa.weight", {64, 96});
  if (newer) {
    matrix("blk.0.attn_k_b.weight", {32, 32, 2});
    matrix("blk.0.attn_v_b.weight", {32, 32, 2});
  } else {
    matrix("blk.0.attn_kv_b.weight", {32, 128});
  }
  return file.bytes(std::string(end, '\0'));
}

TEST(WriteQuantizedGguf, KeepsKvAProjAndKvBProjIn8Bits) {
  const TemporaryDirectory folder;
  for (const bool newer : {false, true}) {
    const fs::path original = folder / "original.gguf", path = folder / "quantized.gguf";
    write_quickly(original, latent_attention_file(newer));
    write_quantized_gguf(path, original, {.dtype = DType::q4_0});
    const auto file = io::GgufFile::open(path);
    for (const std::string& name : file->names())
      EXPECT_EQ(file->get(name).dtype(), name == "blk.0.attn_q.weight" ? DType::q4_0 : DType::q8_0)
          << name;
  }
}

TEST(WriteQuantizedGguf, RefusesToOverwriteTheOriginal) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.gguf";
  fs::copy_file(golden_folder("gguf_models") / "llama3.gguf", path);
  expect_error([&] { write_quantized_gguf(path, path, {.dtype = DType::q8_0}); },
               "is the original model");
}

TEST(WriteQuantizedGguf, RejectsTheCalibrationOfAnotherModel) {
  const TemporaryDirectory folder;
  const fs::path original = golden_folder("gguf_models") / "llama3.gguf";
  quantize::Quantization how{.dtype = DType::q4_0};
  Parameter weight;
  weight.name = "model.decoder.layers.0.self_attn.q_proj.weight";
  how.calibration.observe(weight, Tensor::full({2, 7}, 1.0f));
  how.calibration.finish();
  expect_error([&] { write_quantized_gguf(folder / "model.gguf", original, how); },
               "7 were observed: the calibration is of another model");
  EXPECT_FALSE(fs::exists(folder / "model.gguf"));
}

}  // namespace
}  // namespace heed::checkpoint
