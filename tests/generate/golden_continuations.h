#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed {

/// Prompts and the greedy continuations that transformers gave them, of a small random model of a
/// family; tests/golden/families/make.py made both.
struct GoldenContinuations {
  std::filesystem::path model;                 // its directory
  std::vector<std::vector<int32_t>> prompts;   // of an encoder-decoder: sources
  std::vector<std::vector<int32_t>> expected;  // all of one length
  int64_t length() const { return std::ssize(expected.front()); }
};

/// The decoder-only and encoder-decoder families with continuations.
inline const std::vector<std::string> kGeneratingFamilies{"gpt2",
                                                          "gpt2-scaled",
                                                          "llama2",
                                                          "llama3",
                                                          "llama-linear",
                                                          "llama-yarn",
                                                          "llama-dynamic",
                                                          "llama-bias",
                                                          "mistral",
                                                          "qwen2",
                                                          "qwen2-window",
                                                          "qwen3",
                                                          "gemma2",
                                                          "deepseek-v2",
                                                          "deepseek-v2-group",
                                                          "gemma",
                                                          "gemma3",
                                                          "granite",
                                                          "olmo2",
                                                          "smollm3",
                                                          "qwen3-moe",
                                                          "mixtral",
                                                          "phi3",
                                                          "phi3-longrope",
                                                          "gpt-neox",
                                                          "gpt-neox-sequential",
                                                          "deepseek-v3",
                                                          "bart",
                                                          "t5",
                                                          "t5-v1.1"};

inline GoldenContinuations golden_continuations(const std::string& family) {
  GoldenContinuations golden{
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/families" / family, {}, {}};
  const auto file = io::SafetensorsFile::open(golden.model / "expected.safetensors");
  const bool encoded = family == "bart" || family.starts_with("t5");
  const Tensor ids = file->get(encoded ? "source_ids" : "input_ids");
  const Tensor offsets = file->get(encoded ? "source_offsets" : "offsets");
  const Tensor continuation = file->get("continuation");  // [4, 12]
  for (int64_t b = 0; b < continuation.rows(); ++b) {
    golden.prompts.emplace_back(ids.data<int32_t>() + offsets.data<int32_t>()[b],
                                ids.data<int32_t>() + offsets.data<int32_t>()[b + 1]);
    const int32_t* row = continuation.data<int32_t>() + b * continuation.cols();
    golden.expected.emplace_back(row, row + continuation.cols());
  }
  return golden;
}

/// A family's name as that of a test.
inline std::string test_name_of(const testing::TestParamInfo<std::string>& family) {
  std::string name = family.param;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
}

}  // namespace heed
