#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heed::tasks {

/// Query expansion of ColBERT (Khattab and Zaharia 2020): queries that are shorter than `length`
/// are filled up with a token, whose states count like those of the others.
struct QueryExpansion {
  int64_t length = 32;
  bool fixed = true;    // longer queries are truncated to `length`
  bool attend = false;  // whether other tokens attend to these
  std::string token;    // empty: the mask token, or else the end-of-sequence token
};

/// How a text becomes a vector for each token (late interaction).
struct MultiVectorSettings {
  std::optional<int64_t> query_length, document_length;  // tokens; none: as other texts
  std::optional<QueryExpansion> expansion;
  std::vector<std::string> skiplist;  // tokens without a vector
  bool skips_in_queries = false, skips_in_documents = true;
  std::vector<std::string> prefixes;  // of prompts: tokens that are not made of text
  int64_t first_token = 0;            // those before it have no vector (BGE-M3: 1)
};

/// Python's string.punctuation, which ColBERT skips in documents.
std::vector<std::string> punctuation_skiplist();
/// A number of tokens, at least 1. Throws Error, naming file and key, on anything else.
int64_t read_token_count(const nlohmann::json& json, const char* key, int64_t otherwise,
                         const std::string& file);

/// Reads config_sentence_transformers.json, where PyLate has its settings,
/// sentence_bert_config.json and, if it is not empty, the folder of a MultiVectorMask. Without one,
/// PyLate's punctuation is skipped. Throws Error, naming file and key, on settings that heed does
/// not apply.
MultiVectorSettings read_multi_vector_settings(const std::filesystem::path& model_path,
                                               const std::filesystem::path& mask_folder);

}  // namespace heed::tasks
