#include "heed/serve/sampling_fields.h"

#include <charconv>

#include "heed/base/quote.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/api_error.h"
#include "heed/serve/declared_fields.h"
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

}  // namespace

GenerateOptions read_sampling(JsonFields& fields, const Model& model, int64_t min_tokens) {
  GenerateOptions options;
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_new_tokens"})
    if (const auto limit =
            fields.integer(name, min_tokens, GenerateOption::max_new_tokens.served.max))
      options.max_new_tokens = limit;
  generate::for_each_sampling_option(
      [&](const auto& option) { read_option(fields, option, options); });
  read_option(fields, GenerateOption::seed, options);
  read_stop(fields, GenerateOption::stop.key, options);
  read_option(fields, GenerateOption::skip_special_tokens, options);
  read_logit_bias(fields, model, options);
  read_end_tokens(fields, model, options);
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

int64_t read_n(JsonFields& fields) { return fields.integer("n", 1, kMaxOutputs).value_or(1); }

}  // namespace heed::serve
