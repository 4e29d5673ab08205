#include "heed/serve/sampling_fields.h"

#include <charconv>
#include <limits>

#include "heed/base/quote.h"
#include "heed/serve/api_error.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();
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

std::optional<float> to_float(std::optional<double> value) {
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

}  // namespace

GenerateOptions read_sampling(JsonFields& fields, const Model& model, int64_t min_tokens) {
  constexpr double kMaxPenalty = 100;
  GenerateOptions options;
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_new_tokens"})
    if (const auto limit = fields.integer(name, min_tokens, kMaxCount))
      options.max_new_tokens = limit;
  options.temperature = to_float(fields.number("temperature", 0, 100));
  options.top_p = to_float(fields.number("top_p", 0, 1));
  if (options.top_p == 0.0f)
    throw invalid_request("top_p", "top_p is 0, expected more than 0 and at most 1");
  options.top_k = fields.integer("top_k", 0, kMaxCount);
  options.min_p = to_float(fields.number("min_p", 0, 1));
  options.repetition_penalty = to_float(fields.number("repetition_penalty", 0.01, 100));
  options.presence_penalty =
      static_cast<float>(fields.number("presence_penalty", -kMaxPenalty, kMaxPenalty).value_or(0));
  options.frequency_penalty =
      static_cast<float>(fields.number("frequency_penalty", -kMaxPenalty, kMaxPenalty).value_or(0));
  options.seed = static_cast<uint64_t>(
      fields.integer("seed", 0, std::numeric_limits<int64_t>::max()).value_or(1));
  options.stop = fields.texts("stop").value_or(std::vector<std::string>());
  if (options.stop.size() > kMaxStopStrings)
    throw invalid_request("stop", fmt::format("stop has {} strings, expected at most {}",
                                              options.stop.size(), kMaxStopStrings));
  std::erase(options.stop, "");
  options.skip_special_tokens = fields.boolean("skip_special_tokens").value_or(true);
  read_logit_bias(fields, model, options);
  read_end_tokens(fields, model, options);
  return options;
}

int64_t read_n(JsonFields& fields) { return fields.integer("n", 1, kMaxOutputs).value_or(1); }

}  // namespace heed::serve
