#include "heed/generate/generation_config.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

/// Token ids: a missing key and null are none; one id, or a list.
std::vector<int32_t> read_tokens(const Json& json, const char* key, const std::string& file,
                                 int64_t vocab_size) {
  std::vector<int32_t> ids;
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return ids;
  const Json list = found->is_array() ? *found : Json::array({*found});
  for (const Json& value : list)
    ids.push_back(static_cast<int32_t>(integer_of(value, key, file, 0, vocab_size - 1)));
  return ids;
}

/// Throws Error on a sequence of several tokens, which heed cannot exclude.
std::vector<int32_t> read_bad_words(const Json& json, const std::string& file, int64_t vocab_size) {
  constexpr const char* kKey = "bad_words_ids";
  std::vector<int32_t> ids;
  const auto found = json.find(kKey);
  if (found == json.end() || !found->is_array()) return ids;
  for (const Json& words : *found) {
    require(words.is_array() && words.size() == 1,
            "{}: {} has {}, expected lists of one token each", file, kKey, excerpt(words));
    ids.push_back(static_cast<int32_t>(integer_of(words.front(), kKey, file, 0, vocab_size - 1)));
  }
  return ids;
}

/// What is left to config.json.
void read_older_settings(const std::filesystem::path& path, int64_t vocab_size,
                         GenerationConfig& read) {
  if (!path_exists(path)) return;
  const Json json = parse_json(read_file(path), path.string());
  if (read.bad_ids.empty() && json.is_object())
    read.bad_ids = read_bad_words(json, path.string(), vocab_size);
}

}  // namespace

GenerationConfig read_generation_config(const std::filesystem::path& model_path,
                                        const model::ModelConfig& config) {
  GenerationConfig read;
  read.eos_ids = config.eos_ids();
  read_older_settings(model_path / "config.json", config.vocab_size, read);
  const std::filesystem::path path = model_path / "generation_config.json";
  if (!path_exists(path)) return read;
  const std::string file = path.string();
  const Json json = parse_json(read_file(path), file);
  require(json.is_object(), "{}: expected an object, found {}", file, excerpt(json));
  if (auto ids = read_tokens(json, "eos_token_id", file, config.vocab_size); !ids.empty())
    read.eos_ids = std::move(ids);
  if (const auto ids = read_tokens(json, "forced_bos_token_id", file, config.vocab_size);
      !ids.empty())
    read.forced_bos_id = ids.front();
  if (auto ids = read_bad_words(json, file, config.vocab_size); !ids.empty())
    read.bad_ids = std::move(ids);
  if (const auto most = get_or<int64_t>(json, "max_new_tokens", 0, file); most != 0) {
    require(most > 0, "{}: max_new_tokens is {}, expected at least 1", file, most);
    read.max_new_tokens = most;
  }
  SamplingOptions& sampling = read.sampling;
  read.repetition_penalty = get_or(json, "repetition_penalty", 1.0f, file);
  sampling.temperature = get_or(json, "temperature", 1.0f, file);
  sampling.top_k = get_or<int64_t>(json, "top_k", 0, file);
  sampling.top_p = get_or(json, "top_p", 1.0f, file);
  sampling.min_p = get_or(json, "min_p", 0.0f, file);
  SamplingOptions all = sampling;
  all.repetition_penalty = read.repetition_penalty;
  try {
    check(all, config.vocab_size);
  } catch (const Error& error) {
    fail("{}: {}", file, error.what());
  }
  return read;
}

}  // namespace heed::generate
