#include "heed/tasks/modules/stanford_colbert.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using MetadataJson = nlohmann::json;

constexpr const char* kMetadataFile = "artifact.metadata";
constexpr const char* kProjection = "linear.weight";

void require_value(const MetadataJson& json, const char* key, const char* value,
                   const std::string& file) {
  const auto found = get_or<std::string>(json, key, value, file);
  require(found == value, "{}: {} is {}, expected {}", file, key, quoted(found), value);
}

}  // namespace

bool is_stanford_colbert(const std::filesystem::path& model_path) {
  return path_exists(model_path / kMetadataFile);
}

StanfordColbert read_stanford_colbert(const std::filesystem::path& model_path) {
  const std::filesystem::path path = model_path / kMetadataFile;
  const std::string file = path.string();
  const MetadataJson json = read_object(path);
  require_value(json, "similarity", "cosine", file);
  require_value(json, "interaction", "colbert", file);
  StanfordColbert read;
  MultiVectorSettings& settings = read.settings;
  settings.document_length = read_token_count(json, "doc_maxlen", 220, file);
  settings.expansion = QueryExpansion{.length = read_token_count(json, "query_maxlen", 32, file),
                                      .attend = get_or(json, "attend_to_mask_tokens", false, file),
                                      .token = {}};
  if (get_or(json, "mask_punctuation", true, file)) settings.skiplist = punctuation_skiplist();
  read.prompts = {{"query", get_or<std::string>(json, "query_token_id", "[unused0]", file)},
                  {"document", get_or<std::string>(json, "doc_token_id", "[unused1]", file)}};
  for (const auto& [task, mark] : read.prompts) settings.prefixes.push_back(mark);
  const auto weights = io::open_model_tensors(model_path);
  require(weights->contains(kProjection), "{}: {} is missing, which {} describes", weights->name(),
          kProjection, file);
  read.modules = {projection_module(*weights, kProjection), normalize_module()};
  return read;
}

}  // namespace heed::tasks
