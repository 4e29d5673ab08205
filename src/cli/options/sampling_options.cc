#include "cli/options/sampling_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

/// Parses "ID:BIAS"; nothing if it is malformed.
std::optional<TokenBias> parse_bias(const std::string& text) {
  TokenBias bias;
  const char* const end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.token);
  if (id.ec != std::errc() || id.ptr == end || *id.ptr != ':') return std::nullopt;
  const auto number = std::from_chars(id.ptr + 1, end, bias.bias);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  return bias;
}

}  // namespace

GenerateOptions SamplingArguments::options(uint64_t seed) const {
  GenerateOptions options = generate;
  for (const std::string& stop : options.stop) text::require_utf8(stop, "--stop");
  for (const std::string& text : logit_bias) options.logit_bias.push_back(*parse_bias(text));
  options.seed = seed;
  return options;
}

void add_max_new_tokens(Command& command, SamplingArguments& arguments, const char* standard) {
  command
      .add_option("--max-new-tokens", arguments.generate.max_new_tokens,
                  fmt::format("Maximum number of tokens to generate (default: {})", standard))
      .range(int64_t{1}, kMaxCount);
}

std::vector<Option> add_sampling_options(Command& command, SamplingArguments& options) {
  GenerateOptions& generate = options.generate;
  std::vector<Option> added;
  const auto add = [&](Option option) { added.push_back(option); };
  add(command.add_flag("--sample", generate.sample,
                       "Sample with the settings of generation_config.json"));
  add(command
          .add_option(
              "--temperature", generate.temperature,
              "Sampling temperature, which divides the logits; 0 (default): greedy decoding")
          .range(0.0, 1000.0));
  add(command
          .add_option("--top-k", generate.top_k, "Sample from the k most probable tokens; 0: all")
          .range(int64_t{0}, kMaxCount));
  add(command
          .add_option(
              "--top-p", generate.top_p,
              "Sample from the smallest set of most probable tokens with total probability p")
          .range(1e-6, 1.0));
  add(command
          .add_option("--min-p", generate.min_p,
                      "Exclude tokens with less than this fraction of the highest probability")
          .range(0.0, 1.0));
  add(command
          .add_option(
              "--repetition-penalty", generate.repetition_penalty,
              "Makes tokens of prompt and output less probable (Keskar et al. 2019); 1: off")
          .range(1e-3, 1000.0));
  add(command
          .add_option("--presence-penalty", generate.presence_penalty,
                      "Subtracted from the logits of tokens in the output")
          .range(-100.0, 100.0));
  add(command
          .add_option("--frequency-penalty", generate.frequency_penalty,
                      "Subtracted from the logits of tokens for each occurrence in the output")
          .range(-100.0, 100.0));
  add(command
          .add_option(
              "--logit-bias", options.logit_bias,
              "ID:BIAS adds BIAS to the logit of token ID; -inf forbids the token (repeatable)")
          .check([](const std::string& text) {
            return parse_bias(text) ? std::string()
                                    : text + " is not of the form ID:BIAS, for example 12:-inf";
          }));
  add(command
          .add_option("--stop", generate.stop,
                      "String that ends the output; it is not printed (repeatable)")
          .not_empty());
  return added;
}

}  // namespace heed::cli
