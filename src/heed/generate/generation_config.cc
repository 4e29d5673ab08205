#include "heed/generate/generation_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/generate/generation_keys.h"
#include "heed/generate/gguf_settings.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxLength = int64_t{1} << 31;

/// A file, and what its token ids and its warnings need.
struct SettingsFile {
  const Json& json;
  const std::string& file;
  int64_t vocab_size;
  std::vector<std::string>& warnings;

  /// None where the key is missing or null.
  const Json* find(const char* key) const {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }

  int32_t token(const Json& value, const char* key) const {
    return static_cast<int32_t>(integer_of(value, key, file, 0, vocab_size - 1));
  }

  /// The elements of a list, or the only value.
  Json elements(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return Json::array();
    return value->is_array() ? *value : Json::array({*value});
  }

  std::vector<int32_t> tokens(const char* key) const {
    std::vector<int32_t> ids;
    for (const Json& id : elements(key)) ids.push_back(token(id, key));
    return ids;
  }

  /// The same without ids that the vocabulary does not have, which never occur.
  std::vector<int32_t> known_tokens(const char* key) const {
    std::vector<int32_t> ids;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    for (const Json& one : elements(key)) {
      const int64_t id = integer_of(one, key, file, -1, kMost);
      if (id >= 0 && id < vocab_size)
        ids.push_back(static_cast<int32_t>(id));
      else
        warnings.push_back(
            fmt::format("{}: {} has the token {} and it is ignored: the vocabulary has {} tokens",
                        file, key, id, vocab_size));
    }
    return ids;
  }

  /// -1: none.
  int32_t only_token(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return -1;
    require(!value->is_array() || value->size() == 1, "{}: {} is {}, expected one token", file, key,
            excerpt(*value));
    return tokens(key).front();
  }

  int64_t count(const char* key) const {
    const Json* value = find(key);
    return value == nullptr ? 0 : integer_of(*value, key, file, 0, kMaxLength);
  }

  std::vector<int32_t> sequence(const Json& value, const char* key) const {
    require(value.is_array() && !value.empty(), "{}: {} has {}, expected a list of tokens", file,
            key, excerpt(value));
    std::vector<int32_t> ids;
    for (const Json& id : value) ids.push_back(token(id, key));
    return ids;
  }
};

float read_penalty(const SettingsFile& settings, const char* key) {
  const float penalty = get_or(settings.json, key, 1.0f, settings.file);
  require(penalty > 0 && penalty <= 1000, "{}: {} is {}, expected above 0 and at most 1000",
          settings.file, key, penalty);
  return penalty;
}

/// bad_words_ids, without end tokens, which stay allowed.
std::vector<SequenceBias> read_bad_words(const SettingsFile& settings, const TokenRules& rules) {
  constexpr const char* kKey = "bad_words_ids";
  std::vector<SequenceBias> words;
  const Json* value = settings.find(kKey);
  if (value == nullptr) return words;
  require(value->is_array(), "{}: {} is {}, expected a list of lists of tokens", settings.file,
          kKey, excerpt(*value));
  for (const Json& word : *value) {
    std::vector<int32_t> tokens = settings.sequence(word, kKey);
    if (tokens.size() == 1 && rules.is_end(tokens.front())) continue;
    words.push_back({std::move(tokens), kForbiddenLogit});
  }
  return words;
}

/// [[[tokens], bias], ...]; the last bias of a sequence counts.
std::vector<SequenceBias> read_sequence_bias(const SettingsFile& settings) {
  constexpr const char* kKey = "sequence_bias";
  std::vector<SequenceBias> biases;
  const Json* value = settings.find(kKey);
  if (value == nullptr) return biases;
  require(value->is_array(), "{}: {} is {}, expected a list of pairs of tokens and a bias",
          settings.file, kKey, excerpt(*value));
  for (const Json& pair : *value) {
    require(pair.is_array() && pair.size() == 2 && pair[1].is_number(),
            "{}: {} has {}, expected a list of tokens and a bias", settings.file, kKey,
            excerpt(pair));
    std::vector<int32_t> tokens = settings.sequence(pair[0], kKey);
    const auto bias = pair[1].get<float>();
    require(std::isfinite(bias), "{}: {} has {}, expected a finite bias", settings.file, kKey,
            excerpt(pair));
    const auto same = std::ranges::find(biases, tokens, &SequenceBias::tokens);
    if (same == biases.end())
      biases.push_back({std::move(tokens), bias});
    else
      same->bias = bias;
  }
  return biases;
}

std::optional<LengthDecay> read_length_decay(const SettingsFile& settings) {
  constexpr const char* kKey = "exponential_decay_length_penalty";
  const Json* value = settings.find(kKey);
  if (value == nullptr) return {};
  require(value->is_array() && value->size() == 2 && (*value)[1].is_number(),
          "{}: {} is {}, expected a number of tokens and a factor", settings.file, kKey,
          excerpt(*value));
  const auto factor = (*value)[1].get<double>();
  require(factor > 0 && std::isfinite(factor), "{}: {} is {}, expected a factor above 0",
          settings.file, kKey, excerpt(*value));
  return LengthDecay{integer_of((*value)[0], kKey, settings.file, 0, kMaxLength), factor};
}

/// Throws Error when each of these tokens is forced and suppressed.
void check_forced(const char* key, std::span<const int32_t> forced, const SettingsFile& settings,
                  const TokenRules& rules) {
  if (forced.empty()) return;
  const auto suppressed = [&](int32_t token) {
    return std::ranges::find(rules.suppress_tokens, token) != rules.suppress_tokens.end();
  };
  require(!std::ranges::all_of(forced, suppressed), "{}: {} is {}, which suppress_tokens forbids",
          settings.file, key, excerpt(*settings.find(key)));
}

/// Tokens that config.json has, too, where the model's configuration comes from.
void read_model_tokens(const SettingsFile& settings, GenerationConfig& read) {
  if (auto ids = settings.known_tokens("eos_token_id"); !ids.empty())
    read.rules.eos_ids = std::move(ids);
  if (const auto ids = settings.known_tokens("bos_token_id"); !ids.empty())
    read.bos_id = ids.front();
  read.rules.decoder_start_id = settings.only_token("decoder_start_token_id");
}

void read_rules(const SettingsFile& settings, TokenRules& rules) {
  rules.sequence_bias = read_sequence_bias(settings);
  rules.encoder_repetition_penalty = read_penalty(settings, "encoder_repetition_penalty");
  rules.repetition_penalty = read_penalty(settings, "repetition_penalty");
  rules.no_repeat_ngram_size = settings.count("no_repeat_ngram_size");
  rules.encoder_no_repeat_ngram_size = settings.count("encoder_no_repeat_ngram_size");
  rules.bad_words = read_bad_words(settings, rules);
  rules.min_new_tokens = settings.count("min_new_tokens");
  if (settings.find("min_new_tokens") == nullptr) rules.min_length = settings.count("min_length");
  rules.forced_bos_id = settings.only_token("forced_bos_token_id");
  rules.forced_eos_ids = settings.tokens("forced_eos_token_id");
  rules.length_decay = read_length_decay(settings);
  rules.suppress_tokens = settings.known_tokens("suppress_tokens");
  rules.begin_suppress_tokens = settings.known_tokens("begin_suppress_tokens");
  rules.renormalize_logits = get_or(settings.json, "renormalize_logits", false, settings.file);
  check_forced("forced_bos_token_id", settings.tokens("forced_bos_token_id"), settings, rules);
  check_forced("forced_eos_token_id", rules.forced_eos_ids, settings, rules);
}

void read_sampling(const SettingsFile& settings, SamplingOptions& sampling) {
  for_each_sampling_option([&](const auto& option) {
    auto& number = sampling.*option.resolved;
    if (option.use == SamplingUse::samples)
      number = get_or(settings.json, option.name, number, settings.file);
  });
  try {
    check(sampling, settings.vocab_size);
  } catch (const Error& error) {
    fail("{}: {}", settings.file, error.what());
  }
}

std::optional<int64_t> read_limit(const SettingsFile& settings, const char* key) {
  const int64_t most = settings.count(key);
  return most == 0 ? std::nullopt : std::optional(most);
}

}  // namespace

GenerationConfig read_generation_config(const io::ModelFiles& files,
                                        const model::ModelConfig& config) {
  GenerationConfig read;
  read.rules.eos_ids = config.eos_ids();
  if (files.is_gguf()) {
    read_gguf_settings(files.gguf()->metadata(), files.path().string(), config.vocab_size, read);
    return read;
  }
  std::filesystem::path path = files.path() / "generation_config.json";
  const bool own_file = path_exists(path);
  if (!own_file) path = files.path() / "config.json";
  if (!path_exists(path)) return read;
  const std::string file = path.string();
  const Json json = parse_json(read_file(path), file);
  require(json.is_object(), "{}: expected an object, found {}", file, excerpt(json));
  if (own_file) read.warnings = unknown_settings(json, file);
  refuse_unsupported_settings(json, file);
  read.sampling_refusal = unsupported_sampling(json, file);
  const SettingsFile settings{json, file, config.vocab_size, read.warnings};
  if (own_file) read_model_tokens(settings, read);
  read_rules(settings, read.rules);
  read.sampling.repetition_penalty = read.rules.repetition_penalty;
  read.max_new_tokens = read_limit(settings, "max_new_tokens");
  read.max_length = read_limit(settings, "max_length");
  read_sampling(settings, read.sampling);
  read.names_temperature = settings.find("temperature") != nullptr;
  if (settings.find("do_sample")) read.do_sample = get_or(json, "do_sample", false, file);
  return read;
}

}  // namespace heed::generate
