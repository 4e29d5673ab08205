#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

/// What tests/golden/tokenizers/make.py wrote.
inline const std::filesystem::path kGoldenTokenizers =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers";

inline constexpr const char* kTokenizerKinds[] = {
    "gpt2",       "roberta",        "bart",         "llama3",
    "qwen2",      "gpt4o",          "deepseek_v2",  "deepseek_v3",
    "clip",       "openai_gpt",     "prefixed_bpe", "llama2",
    "mistral",    "gemma2",         "bert_uncased", "distilbert_cased",
    "t5",         "t5_not_legacy",  "xlm_roberta",  "unigram_bytes",
    "word_level", "byte_normalizer"};

inline Tokenizer golden_tokenizer(const std::string& kind) {
  const std::filesystem::path path = kGoldenTokenizers / (kind + ".json");
  return Tokenizer::from_json(parse_json(read_file(path), path.string()), path.string());
}

}  // namespace heed::text
