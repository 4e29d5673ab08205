#include "heed/serve/sampling_fields.h"

#include <charconv>

#include "heed/base/quote.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/api_error.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

namespace generate_option = generate::generate_option;

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

/// A number within the range, none if it is absent.
std::optional<float> read_number(JsonFields& fields, std::string_view name,
                                 const Range<double>& range) {
  const auto value = fields.number(name, range.min, range.max);
  if (!value) return std::nullopt;
  const auto number = static_cast<float>(*value);
  if (range.above_min && static_cast<double>(number) <= range.min)
    throw invalid_request(std::string(name),
                          fmt::format("{} is {}, expected {}", name, number, range.text()));
  return number;
}
std::optional<int64_t> read_number(JsonFields& fields, std::string_view name,
                                   const Range<int64_t>& range) {
  return fields.integer(name, range.min, range.max);
}

}  // namespace

GenerateOptions read_sampling(JsonFields& fields, const Model& model, int64_t min_tokens) {
  GenerateOptions options;
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_new_tokens"})
    if (const auto limit =
            fields.integer(name, min_tokens, generate_option::max_new_tokens.served.max))
      options.max_new_tokens = limit;
  generate::for_each_sampling_option([&](const auto& option) {
    if (const auto number = read_number(fields, option.name, option.served))
      options.*option.field = *number;
  });
  const Range<int64_t>& seeds = generate_option::seed.served;
  if (const auto seed = fields.integer("seed", seeds.min, seeds.max))
    options.seed = static_cast<uint64_t>(*seed);
  options.stop = fields.texts("stop").value_or(std::vector<std::string>());
  if (options.stop.size() > kMaxStopStrings)
    throw invalid_request("stop", fmt::format("stop has {} strings, expected at most {}",
                                              options.stop.size(), kMaxStopStrings));
  std::erase(options.stop, "");
  if (const auto skip = fields.boolean("skip_special_tokens")) options.skip_special_tokens = *skip;
  read_logit_bias(fields, model, options);
  read_end_tokens(fields, model, options);
  return options;
}

int64_t read_n(JsonFields& fields) { return fields.integer("n", 1, kMaxOutputs).value_or(1); }

}  // namespace heed::serve
