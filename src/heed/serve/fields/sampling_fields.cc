#include "heed/serve/fields/sampling_fields.h"

#include <charconv>
#include <limits>
#include <random>

#include "heed/base/quote.h"
#include "heed/engine/chat_requests.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/api_error.h"
#include "heed/serve/fields/declared_fields.h"
#include "heed/serve/fields/neutral_fields.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

using generate::GenerateOption;

constexpr int64_t kMaxOutputs = 128;
constexpr size_t kMaxStopStrings = 64;

int32_t token_of(const std::string& path, const std::string& text, int64_t vocab_size) {
  int32_t token = -1;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, token);
  if (error != std::errc() || last != end || token < 0 || token >= vocab_size)
    throw invalid_request(path, fmt::format("{} has the key {}, expected a token from 0 to {}",
                                            path, quoted(text), vocab_size - 1));
  return token;
}

void read_logit_bias(JsonFields& fields, const Model& model, GenerateOptions& options) {
  const Json* biases = fields.find("logit_bias");
  if (!biases) return;
  JsonFields values(*biases, fields.path_of("logit_bias"));
  for (const auto& [key, value] : biases->items()) {
    const int32_t token = token_of("logit_bias", key, model.vocab_size());
    if (const auto bias = values.number(key, -100, 100))
      options.logit_bias.push_back({token, static_cast<float>(*bias)});
  }
}

void read_end_tokens(JsonFields& fields, const Model& model, GenerateOptions& options) {
  if (fields.find("stop_token_ids"))
    options.end_tokens = read_tokens(fields, "stop_token_ids", model);
}

/// Whether the field has the number by which other servers say "none" or "all".
bool is(JsonFields& fields, std::string_view name, int number) {
  const Json* const found = fields.find(name);
  return found && *found == number;
}

void read_limit(JsonFields& fields, int64_t min_tokens, GenerateOptions& options) {
  constexpr int64_t kMost = GenerateOption::max_new_tokens.served.max;
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict"}) {
    if (!fields.find(name)) continue;
    options.max_new_tokens = is(fields, name, -1) ? kMost : fields.integer(name, min_tokens, kMost);
  }
  auto least = GenerateOption::min_new_tokens;
  least.key = "min_tokens";
  read_option(fields, least, options);
}

/// The numbers of sampling, and what they are called elsewhere.
void read_numbers(JsonFields& fields, GenerateOptions& options) {
  auto repeat_penalty = GenerateOption::repetition_penalty;
  repeat_penalty.key = "repeat_penalty";
  read_option(fields, repeat_penalty, options);
  generate::for_each_sampling_option([&](const auto& option) {
    if (option.name == GenerateOption::top_k.name && is(fields, option.name, -1)) {
      options.top_k = 0;
    } else if (option.name == GenerateOption::top_p.name && is(fields, option.name, 0)) {
      options.temperature = 0.0f;  // of the most probable token alone
    } else {
      read_option(fields, option, options);
    }
  });
}

/// A number that JSON and JavaScript have exactly.
uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) >> 11;
}

void read_seed(const ModelCall& call, JsonFields& fields, GenerateOptions& options) {
  if (fields.find("seed") && !is(fields, "seed", -1))
    return read_option(fields, GenerateOption::seed, options);
  options.seed = call.services.options.seed.value_or(random_seed());
}

}  // namespace

GenerateOptions read_sampling(const ModelCall& call, JsonFields& fields, int64_t min_tokens) {
  const Model& model = call.model();
  GenerateOptions options;
  read_limit(fields, min_tokens, options);
  read_numbers(fields, options);
  read_seed(call, fields, options);
  read_stop(fields, GenerateOption::stop.key, options);
  read_option(fields, GenerateOption::skip_special_tokens, options);
  read_logit_bias(fields, model, options);
  read_end_tokens(fields, model, options);
  read_ignore_eos(fields, model.eos_ids(), options);
  read_neutral_fields(fields);
  return options;
}

void read_stop(JsonFields& fields, std::string_view name, GenerateOptions& options) {
  auto strings = fields.texts(name);
  if (!strings) return;
  if (strings->size() > kMaxStopStrings)
    throw invalid_request(fields.path_of(name),
                          fmt::format("{} has {} strings, expected at most {}",
                                      fields.path_of(name), strings->size(), kMaxStopStrings));
  std::erase(*strings, "");
  options.stop = std::move(*strings);
}

GenerateOptions read_chat_sampling(const ModelCall& call, JsonFields& fields) {
  GenerateOptions options = read_sampling(call, fields);
  engine::set_chat_sampling(options, call.model());
  return options;
}

bool samples(const GenerateOptions& options) {
  bool asked = options.sample;
  generate::for_each_sampling_option([&](const auto& option) {
    asked |= option.use == generate::SamplingUse::samples && option.asked(options);
  });
  return asked && options.temperature != 0.0f;
}

void read_ignore_eos(JsonFields& fields, const std::vector<int32_t>& end_tokens,
                     GenerateOptions& options) {
  if (!fields.boolean("ignore_eos").value_or(false)) return;
  for (const int32_t token : end_tokens)
    options.logit_bias.push_back({token, -std::numeric_limits<float>::infinity()});
}

int64_t read_n(JsonFields& fields) { return fields.integer("n", 1, kMaxOutputs).value_or(1); }

}  // namespace heed::serve
