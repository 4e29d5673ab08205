#include "heed/generate/generation_keys.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/generate/generate_options.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

// docs/models.md has these lists, too.

bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

/// The settings that read_generation_config() reads, beside the options of sampling.
bool is_applied(std::string_view key) {
  return is_one_of(
      key, {"begin_suppress_tokens", "bad_words_ids", "bos_token_id", "decoder_start_token_id",
            "encoder_no_repeat_ngram_size", "encoder_repetition_penalty", "eos_token_id",
            "exponential_decay_length_penalty", "forced_bos_token_id", "forced_eos_token_id",
            "max_length", "max_new_tokens", "min_length", "min_new_tokens", "no_repeat_ngram_size",
            "renormalize_logits", "repetition_penalty", "sequence_bias", "suppress_tokens"});
}

/// The request decides these, not the file.
bool is_of_request(std::string_view key) {
  return is_one_of(
      key, {"do_sample", "early_stopping", "length_penalty", "num_beams", "num_return_sequences"});
}

/// These change how `transformers` drafts tokens, but not the outputs.
bool is_of_speculation(std::string_view key) {
  return is_one_of(
      key, {"assistant_confidence_threshold", "assistant_early_exit", "assistant_ensemble_weight",
            "assistant_lookbehind", "is_assistant", "max_matching_ngram_size",
            "num_assistant_tokens", "num_assistant_tokens_schedule", "prompt_lookup_num_tokens",
            "speculation_type", "target_lookbehind", "use_mtp"});
}

/// These change how `transformers` computes, or what its generate() returns beside outputs.
/// (diversity_penalty has an effect only with num_beam_groups.)
bool has_no_effect(std::string_view key) {
  return is_one_of(key,
                   {"_commit_hash",         "_from_model_config",    "cache_config",
                    "cache_implementation", "compile_config",        "continuous_batching_config",
                    "disable_compile",      "diversity_penalty",     "low_memory",
                    "max_cache_len",        "output_attentions",     "output_hidden_states",
                    "output_logits",        "output_scores",         "pad_token_id",
                    "prefill_chunk_size",   "remove_invalid_values", "return_dict_in_generate",
                    "return_legacy_cache",  "transformers_version",  "use_cache"});
}

/// A setting that heed does not apply, and the values with which it does nothing.
struct Unsupported {
  std::string_view key, expected;
  bool (*is_off)(const Json& value);
};

bool is_absent(const Json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_structured() && value.empty());
}
template <int kOff>
bool is_at_most(const Json& value) {
  return is_absent(value) || (value.is_number() && value.get<double>() <= kOff);
}
template <int kOff>
bool is_exactly(const Json& value) {
  return is_absent(value) || (value.is_number() && value.get<double>() == kOff);
}
bool is_at_least_one(const Json& value) {
  return is_absent(value) || (value.is_number() && value.get<double>() >= 1);
}
/// `transformers` ignores cutoffs outside (0, 1).
bool is_no_cutoff(const Json& value) { return is_at_most<0>(value) || is_at_least_one(value); }

constexpr Unsupported kUnsupported[] = {
    {"constraints", "null", is_absent},
    {"dola_layers", "null", is_absent},
    {"force_words_ids", "null", is_absent},
    {"forced_decoder_ids", "null", is_absent},
    {"guidance_scale", "1", is_exactly<1>},
    {"max_time", "null", is_absent},
    {"num_beam_groups", "1", is_at_most<1>},
    {"penalty_alpha", "0", is_at_most<0>},
    {"stop_strings", "null: they belong to a request", is_absent},
    {"token_healing", "false", is_absent},
    {"watermarking_config", "null", is_absent}};

constexpr Unsupported kUnsupportedSampling[] = {{"epsilon_cutoff", "0", is_no_cutoff},
                                                {"eta_cutoff", "0", is_no_cutoff},
                                                {"top_h", "null", is_absent},
                                                {"typical_p", "1", is_at_least_one}};

std::string refusal(std::span<const Unsupported> settings, const Json& json,
                    const std::string& file) {
  for (const auto& [key, expected, is_off] : settings) {
    const auto found = json.find(std::string(key));
    if (found != json.end() && !is_off(*found))
      return fmt::format("{}: {} is {}, which heed does not apply, expected {}", file, key,
                         excerpt(*found), expected);
  }
  return "";
}

bool is_known_setting(std::string_view key) {
  const auto refuses = [&](const auto& settings) {
    return std::ranges::find(settings, key, &Unsupported::key) != std::end(settings);
  };
  bool of_sampling = false;
  for_each_sampling_option([&](const auto& option) {
    of_sampling |= option.use == SamplingUse::samples && option.name == key;
  });
  return of_sampling || is_applied(key) || is_of_request(key) || is_of_speculation(key) ||
         has_no_effect(key) || refuses(kUnsupported) || refuses(kUnsupportedSampling);
}

}  // namespace

void refuse_unsupported_settings(const Json& json, const std::string& file) {
  const std::string message = refusal(kUnsupported, json, file);
  require(message.empty(), "{}", message);
}

std::string unsupported_sampling(const Json& json, const std::string& file) {
  return refusal(kUnsupportedSampling, json, file);
}

std::vector<std::string> unknown_settings(const Json& json, const std::string& file) {
  std::vector<std::string> warnings;
  for (const auto& [key, value] : json.items())
    if (!is_known_setting(key) && !value.is_null())
      warnings.push_back(fmt::format("{}: {} is {} and is ignored: it is no known setting", file,
                                     quoted(key), excerpt(value)));
  return warnings;
}

}  // namespace heed::generate
