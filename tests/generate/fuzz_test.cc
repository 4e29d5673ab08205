// Damaged configuration files for generation and embedding.
#include <gtest/gtest.h>

#include "heed/generate/generation_config.h"
#include "heed/tasks/embedder.h"
#include "tests/base/fuzz.h"

namespace heed::generate {
namespace {

constexpr uint64_t kAttempts = 3000;

TEST(FuzzDirectory, GenerationConfig) {
  const TemporaryDirectory folder;
  model::ModelConfig config;
  config.vocab_size = 100;
  fuzz_file(folder / "generation_config.json",
            R"({"eos_token_id": [2, 7], "bos_token_id": 1, "forced_bos_token_id": 5, "top_k": 20,
              "sequence_bias": [[[1, 2], 0.5]], "bad_words_ids": [[3], [4, 5]], "min_length": 4,
              "exponential_decay_length_penalty": [5, 1.1], "suppress_tokens": [6, 900],
              "forced_eos_token_id": [2], "no_repeat_ngram_size": 3, "typical_p": 0.9,
              "num_beam_groups": 1, "colour": "blue",
                "temperature": 0.6, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.1,
                "max_new_tokens": 50, "do_sample": true})",
            kAttempts, [&] { read_generation_config(folder.path(), config); });
}

class FuzzSentenceTransformers : public testing::TestWithParam<const char*> {};

TEST_P(FuzzSentenceTransformers, IsReadOrRefused) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"modules.json",
       R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
           {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
           {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])"},
      {"1_Pooling/config.json",
       R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
           "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false})"},
      {"sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})"}};
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "1_Pooling");
  for (const auto& [name, bytes] : files) write_quickly(folder / name, bytes);
  for (const auto& [name, bytes] : files)
    if (name == GetParam())
      fuzz_file(folder / name, bytes, kAttempts,
                [&] { tasks::read_embedder_options(folder.path()); });
}

INSTANTIATE_TEST_SUITE_P(Files, FuzzSentenceTransformers,
                         testing::Values("modules.json", "1_Pooling/config.json",
                                         "sentence_bert_config.json"));

}  // namespace
}  // namespace heed::generate
