#include "heed/serve/fields/neutral_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/json.h"
#include "heed/serve/api_error.h"

namespace heed::serve {

std::span<const NeutralField> neutral_fields() {
  static const std::vector<NeutralField> kFields{
      // OpenAI's
      {"user"},
      {"metadata"},
      {"store"},
      {"service_tier"},
      {"safety_identifier"},
      {"prompt_cache_key"},
      {"prompt_cache_retention"},
      {"prediction"},
      {"verbosity", {R"("medium")"}},
      {"functions", {"[]"}},
      {"function_call", {R"("none")"}},
      // vLLM's
      {"add_special_tokens", {"true"}},
      {"allowed_token_ids", {"[]"}},
      {"bad_words", {"[]"}},
      {"cache_salt"},
      {"chat_template", {R"("")"}},
      {"documents", {"[]"}},
      {"early_stopping", {"false"}},
      {"include_stop_str_in_output", {"false"}},
      {"kv_transfer_params"},
      {"length_penalty", {"1"}},
      {"logits_processors", {"[]"}},
      {"priority"},
      {"prompt_embeds", {R"("")"}},
      {"prompt_logprobs", {"0"}},
      {"request_id"},
      {"return_token_ids", {"false"}},
      {"return_tokens_as_token_ids", {"false"}},
      {"spaces_between_special_tokens", {"true"}},
      {"use_beam_search", {"false"}},
      // llama.cpp's
      {"cache_prompt"},
      {"dry_allowed_length"},
      {"dry_base"},
      {"dry_multiplier", {"0"}},
      {"dry_penalty_last_n"},
      {"dry_sequence_breakers"},
      {"dynatemp_exponent"},
      {"dynatemp_range", {"0"}},
      {"id_slot"},
      {"lora", {"[]"}},
      {"min_keep", {"0"}},
      {"mirostat", {"0"}},
      {"mirostat_eta"},
      {"mirostat_tau"},
      {"n_probs", {"0"}},
      {"post_sampling_probs", {"false"}},
      {"repeat_last_n", {"-1"}},
      {"return_progress", {"false"}},
      {"samplers", {"[]"}},
      {"t_max_predict_ms", {"0", "-1"}},
      {"timings_per_token"},
      {"top_n_sigma", {"0", "-1"}},
      {"typical_p", {"1"}},
      {"xtc_probability", {"0"}},
      {"xtc_threshold"},
  };
  return kFields;
}

void read_neutral_fields(JsonFields& fields) {
  for (const auto& [name, values] : neutral_fields()) {
    const Json* const found = fields.find(name);
    if (!found || values.empty()) continue;
    const bool neutral = std::ranges::any_of(
        values, [&](std::string_view value) { return *found == Json::parse(value); });
    if (!neutral)
      throw invalid_request(
          fields.path_of(name),
          fmt::format("{} is {}, heed offers {} only", fields.path_of(name),
                      excerpt(nlohmann::json(*found)), fmt::join(values, " or ")));
  }
}

}  // namespace heed::serve
