// Greedy outputs of small random models of every family against transformers:
// tests/golden/families/make.py made the continuations.
#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "heed/generate/generator.h"
#include "heed/io/safetensors.h"

namespace heed::generate {
namespace {

class GeneratedBy : public testing::TestWithParam<const char*> {};

TEST_P(GeneratedBy, GreedyOutputsOfABatchEqualThoseOfTransformers) {
  const auto path = std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/families" / GetParam();
  const auto model = checkpoint::load_model(path);
  const auto golden = io::SafetensorsFile::open(path / "expected.safetensors");
  const bool encoded = model->has_encoder();
  const Tensor ids = golden->get(encoded ? "source_ids" : "input_ids");
  const Tensor offsets = golden->get(encoded ? "source_offsets" : "offsets");
  const Tensor expected = golden->get("continuation");  // [4, 12]
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t b = 0; b + 1 < offsets.elements(); ++b)
    prompts.emplace_back(ids.data<int32_t>() + offsets.data<int32_t>()[b],
                         ids.data<int32_t>() + offsets.data<int32_t>()[b + 1]);
  GeneratorOptions options;
  options.max_new_tokens = expected.cols();
  const auto found = Generator(*model, {}, options).generate(prompts);
  ASSERT_EQ(static_cast<int64_t>(found.size()), expected.rows());
  for (size_t b = 0; b < found.size(); ++b) {
    const int32_t* row = expected.data<int32_t>() + static_cast<int64_t>(b) * expected.cols();
    EXPECT_EQ(found[b].tokens, std::vector<int32_t>(row, row + expected.cols())) << "prompt " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GeneratedBy,
                         testing::Values("gpt2", "llama2", "llama3", "llama-linear", "llama-yarn",
                                         "llama-bias", "mistral", "qwen2", "qwen2-window", "qwen3",
                                         "gemma2", "deepseek-v2", "deepseek-v2-group", "bart", "t5",
                                         "t5-v1.1"),
                         [](const auto& family) {
                           std::string name = family.param;
                           for (char& c : name)
                             if (c == '-' || c == '.') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace heed::generate
