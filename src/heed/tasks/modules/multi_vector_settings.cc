#include "heed/tasks/modules/multi_vector_settings.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using MaskJson = nlohmann::json;

constexpr int64_t kMostExpanded = 1 << 16;

/// Python's string.punctuation.
constexpr std::string_view kPunctuation = R"(!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~)";

int64_t length_of(const MaskJson& json, const char* key, const std::string& file) {
  const auto length = get<int64_t>(json, key, file);
  require(length >= 1 && length <= kMostExpanded, "{}: {} is {}, expected 1 to {}", file, key,
          length, kMostExpanded);
  return length;
}

QueryExpansion expansion_of(const MaskJson& json, const std::string& file) {
  require(json.is_object(), "{}: query_expansion is {}, expected an object", file, excerpt(json));
  require_known(json, file, {"strategy", "attend", "token", "length"});
  const auto strategy = get<std::string>(json, "strategy", file);
  require(strategy == "fixed" || strategy == "min",
          "{}: query_expansion.strategy is {}, expected fixed or min", file, quoted(strategy));
  return {length_of(json, "length", file), strategy == "fixed", get_or(json, "attend", false, file),
          get_or<std::string>(json, "token", "", file)};
}

/// What PyLate says beside the settings of sentence-transformers.
void read_pylate(const MaskJson& json, const std::string& file, MultiVectorSettings& settings) {
  bool marked = false;
  for (const char* const key :
       {"query_length", "document_length", "query_expansion", "do_query_expansion",
        "attend_to_expansion_tokens", "attend_to_mask_tokens", "query_prefix", "document_prefix",
        "skiplist_words"})
    marked = marked || json.contains(key);
  for (const char* const key : {"query_prefix", "document_prefix"})
    if (const auto prefix = get_or<std::string>(json, key, "", file); !prefix.empty())
      settings.prefixes.push_back(prefix);
  if (has_value(json, "document_length"))
    settings.document_length = length_of(json, "document_length", file);
  if (has_value(json, "query_length"))
    settings.query_length = length_of(json, "query_length", file);
  if (json.contains("query_expansion")) {
    if (has_value(json, "query_expansion"))
      settings.expansion = expansion_of(json["query_expansion"], file);
  } else if (marked && get_or(json, "do_query_expansion", true, file)) {
    const bool of_masks = get_or(json, "attend_to_mask_tokens", false, file);
    settings.expansion =
        QueryExpansion{.length = settings.query_length.value_or(32),
                       .attend = get_or(json, "attend_to_expansion_tokens", of_masks, file),
                       .token = {}};
    settings.query_length.reset();
  }
  if (has_value(json, "skiplist_words"))
    settings.skiplist = get<std::vector<std::string>>(json, "skiplist_words", file);
}

/// The first module's, which count more.
void read_transformer_settings(const MaskJson& json, const std::string& file,
                               MultiVectorSettings& settings) {
  if (has_value(json, "query_length"))
    settings.query_length = length_of(json, "query_length", file);
  if (has_value(json, "document_length"))
    settings.document_length = length_of(json, "document_length", file);
  if (has_value(json, "query_expansion"))
    settings.expansion = expansion_of(json["query_expansion"], file);
  require(!settings.expansion || !settings.query_length ||
              *settings.query_length >= settings.expansion->length,
          "{}: query_length is {}, below the length of query_expansion, {}", file,
          settings.query_length.value_or(0), settings.expansion.value_or(QueryExpansion{}).length);
}

void read_mask(const std::filesystem::path& path, MultiVectorSettings& settings) {
  const std::string file = path.string();
  const MaskJson json = read_object(path);
  require_known(json, file, {"skiplist_words", "skiplist_tasks"});
  settings.skiplist = get_or<std::vector<std::string>>(json, "skiplist_words", {}, file);
  if (!has_value(json, "skiplist_tasks")) return;
  settings.skips_in_queries = settings.skips_in_documents = false;
  for (const std::string& task : get<std::vector<std::string>>(json, "skiplist_tasks", file)) {
    require(task == "query" || task == "document",
            "{}: skiplist_tasks has {}, expected query or document", file, quoted(task));
    (task == "query" ? settings.skips_in_queries : settings.skips_in_documents) = true;
  }
}

}  // namespace

std::vector<std::string> punctuation_skiplist() {
  std::vector<std::string> skiplist;
  for (const char word : kPunctuation) skiplist.emplace_back(1, word);
  return skiplist;
}

int64_t read_token_count(const nlohmann::json& json, const char* key, int64_t otherwise,
                         const std::string& file) {
  return has_value(json, key) ? length_of(json, key, file) : otherwise;
}

MultiVectorSettings read_multi_vector_settings(const std::filesystem::path& model_path,
                                               const std::filesystem::path& mask_folder) {
  MultiVectorSettings settings;
  if (mask_folder.empty()) settings.skiplist = punctuation_skiplist();
  const std::filesystem::path top = model_path / kSentenceTransformersFile,
                              transformer = transformer_settings_file(model_path);
  if (path_exists(top)) read_pylate(read_object(top), top.string(), settings);
  if (path_exists(transformer))
    read_transformer_settings(read_object(transformer), transformer.string(), settings);
  if (!mask_folder.empty()) read_mask(mask_folder / "config.json", settings);
  return settings;
}

}  // namespace heed::tasks
