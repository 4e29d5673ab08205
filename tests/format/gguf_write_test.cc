#include "heed/format/gguf_write.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heed/format/model_directory.h"
#include "tests/base/testing.h"
#include "tests/format/golden.h"

namespace heed::format {
namespace {

namespace fs = std::filesystem;

class QuantizedGguf : public testing::TestWithParam<const char*> {
 protected:
  const fs::path original_ = golden_folder("gguf_models") / (GetParam() + std::string(".gguf"));
  const TemporaryDirectory folder_;
  const fs::path path_ = folder_ / "model.gguf";
};

TEST_P(QuantizedGguf, HoldsTheConvertedTensors) {
  const auto was = GgufFile::open(original_);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1, DType::bf16}) {
    write_quantized_gguf(path_, *was, {dtype});
    const auto is = GgufFile::open(path_);
    ASSERT_EQ(is->names(), was->names());
    for (const std::string& name : was->names()) {
      const Tensor expected = in_precision(was->get(name), {dtype}), found = is->get(name);
      ASSERT_EQ(found.dtype(), expected.dtype()) << name;
      ASSERT_EQ(found.shape(), expected.shape()) << name;
      EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), static_cast<size_t>(expected.bytes())), 0)
          << name;
    }
    EXPECT_NO_THROW(load_model(path_));
  }
}

TEST_P(QuantizedGguf, TakesOverTheMetadata) {
  const auto was = GgufFile::open(original_);
  write_quantized_gguf(path_, *was, {DType::q8_0});
  const auto is = GgufFile::open(path_);
  EXPECT_EQ(is->metadata().keys(), was->metadata().keys());
  EXPECT_EQ(is->metadata().get<std::string>("general.architecture"),
            was->metadata().get<std::string>("general.architecture"));
  constexpr int64_t kMostlyQ8 = 7;
  EXPECT_EQ(is->metadata().get<int64_t>("general.file_type"), kMostlyQ8);
}

TEST_P(QuantizedGguf, AsItIsStoredIsTheSameFileButForTheOrderOfTensors) {
  const auto was = GgufFile::open(original_);
  write_quantized_gguf(path_, *was, {std::nullopt});
  const auto is = GgufFile::open(path_);
  for (const std::string& name : was->names())
    EXPECT_EQ(std::memcmp(is->get(name).raw(), was->get(name).raw(),
                          static_cast<size_t>(was->get(name).bytes())),
              0)
        << name;
}

INSTANTIATE_TEST_SUITE_P(Architectures, QuantizedGguf,
                         testing::Values("llama3", "gemma2", "gpt2", "qwen3", "deepseek-v2-group"),
                         case_name);

TEST(WriteQuantizedGguf, KeepsTheFileItIsMadeOf) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.gguf";
  fs::copy_file(golden_folder("gguf_models") / "llama3.gguf", path);
  expect_error([&] { write_quantized_gguf(path, *GgufFile::open(path), {DType::q8_0}); },
               "is the model itself");
}

}  // namespace
}  // namespace heed::format
