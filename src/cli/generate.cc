#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cache_option.h"
#include "cli/command.h"
#include "cli/line_stream.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/generate/generation_config.h"
#include "heed/generate/generator.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using generate::Generation;
using Json = nlohmann::ordered_json;

constexpr int64_t kLeast = 1, kMost = int64_t{1} << 30;  // of counts

struct GenerateOptions {
  CommonOptions common;
  ModelOptions model;
  std::optional<DType> cache;
  std::optional<std::string> prompt;
  std::vector<int32_t> tokens;
  std::optional<int64_t> max_tokens, top_k;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  float presence_penalty = 0, frequency_penalty = 0;
  std::vector<std::string> stop, logit_bias;
  generate::SearchOptions search;
  int log_probabilities = -1;
  int64_t batch_tokens = 16384;
  bool sample = false, beam = false, json = false;
};

/// "ID:BIAS".
generate::TokenBias bias_of(const std::string& text) {
  generate::TokenBias bias;
  const char* const end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.token);
  const bool separated = id.ec == std::errc() && id.ptr != end && *id.ptr == ':';
  const auto number = separated ? std::from_chars(id.ptr + 1, end, bias.bias) : id;
  if (!separated || number.ec != std::errc() || number.ptr != end)
    throw CLI::ValidationError("--logit-bias", text + " is not ID:BIAS, such as 12:-inf");
  return bias;
}

/// Greedy, unless the user wants to sample; then what the model's makers suggest, unless the user
/// wants something else.
generate::SamplingOptions sampling_of(const GenerateOptions& options,
                                      const generate::GenerationConfig& suggested) {
  const bool sample =
      options.sample || options.temperature || options.top_k || options.top_p || options.min_p;
  generate::SamplingOptions sampling;
  if (sample) {
    sampling.temperature = options.temperature.value_or(suggested.sampling.temperature);
    sampling.top_k = options.top_k.value_or(suggested.sampling.top_k);
    sampling.top_p = options.top_p.value_or(suggested.sampling.top_p);
    sampling.min_p = options.min_p.value_or(suggested.sampling.min_p);
  }
  sampling.repetition_penalty = options.repetition_penalty.value_or(suggested.repetition_penalty);
  sampling.presence_penalty = options.presence_penalty;
  sampling.frequency_penalty = options.frequency_penalty;
  for (const std::string& text : options.logit_bias) sampling.logit_bias.push_back(bias_of(text));
  sampling.seed = options.common.seed;
  return sampling;
}

generate::GeneratorOptions generator_options(const GenerateOptions& options,
                                             const model::ModelConfig& config) {
  const auto suggested = generate::read_generation_config(options.model.path, config);
  generate::GeneratorOptions result;
  result.sampling = sampling_of(options, suggested);
  result.dtype = activation_dtype(options.model);
  result.cache_dtype = options.cache;
  result.max_tokens = options.max_tokens.value_or(suggested.max_new_tokens.value_or(256));
  result.end_ids = suggested.end_ids;
  result.stop = options.stop;
  result.forced_first_id = suggested.forced_first_id;
  result.top_log_probabilities = options.log_probabilities;
  result.batch_tokens = options.batch_tokens;
  return result;
}

/// Prompts that are token numbers need no tokenizer; then the output is token numbers as well.
std::optional<text::Tokenizer> tokenizer_for(const GenerateOptions& options,
                                             PendingTokenizer& tokenizer,
                                             const model::Transformer& model) {
  if (options.tokens.empty()) return tokenizer.get(model);
  try {
    return tokenizer.get(model);
  } catch (const Error& error) {
    std::fprintf(stderr, "heed: token numbers are printed: %s\n", error.what());
    return std::nullopt;
  }
}

std::string joined(const std::vector<int32_t>& tokens) {
  return fmt::format("{}", fmt::join(tokens, ","));
}

/// A text on one line.
std::string escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\\') line += '\\';
    line += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return line;
}

/// Prints outputs, and counts their tokens.
class Printer {
 public:
  Printer(const GenerateOptions& options, const std::optional<text::Tokenizer>& tokenizer)
      : options_(options), tokenizer_(tokenizer) {}

  void print(uint64_t number, const Generation& output) {
    count_ += static_cast<int64_t>(output.tokens.size());
    if (options_.json) return print_json(number, output);
    std::cout << (tokenizer_ ? escaped(output.text) : joined(output.tokens)) << '\n';
  }

  void print(uint64_t number, const std::vector<generate::Hypothesis>& outputs) {
    Json list = Json::array();
    for (const generate::Hypothesis& output : outputs) {
      count_ += static_cast<int64_t>(output.tokens.size());
      const std::string text = tokenizer_ ? tokenizer_->decode(output.tokens) : "";
      list.push_back({{"text", text},
                      {"tokens", output.tokens},
                      {"score", output.score},
                      {"log_probability", output.log_probability}});
      if (options_.json) continue;
      if (options_.search.n_best > 1) std::cout << number << " ||| ";
      std::cout << (tokenizer_ ? escaped(text) : joined(output.tokens));
      if (options_.search.n_best > 1) std::cout << fmt::format(" ||| {:.6f}", output.score);
      std::cout << '\n';
    }
    if (options_.json) std::cout << Json{{"prompt", number}, {"outputs", list}}.dump() << '\n';
  }

  int64_t tokens() const { return count_; }
  void count(int64_t tokens) { count_ += tokens; }

 private:
  Json entry(const generate::TokenLogProbability& token) const {
    Json json = {{"token", token.token}};
    if (tokenizer_) json["text"] = tokenizer_->decode(std::vector{token.token}, false);
    json["log_probability"] = token.log_probability;
    return json;
  }

  void print_json(uint64_t number, const Generation& output) const {
    Json json = {{"prompt", number}};
    if (tokenizer_) json["text"] = output.text;
    json["tokens"] = output.tokens;
    json["ending"] = generate::name_of(output.ending);
    for (size_t i = 0; i < output.chosen.size(); ++i) {
      Json token = entry(output.chosen[i]);
      for (const auto& best : output.best[i]) token["best"].push_back(entry(best));
      json["log_probabilities"].push_back(std::move(token));
    }
    std::cout << json.dump() << '\n';
  }

  const GenerateOptions& options_;
  const std::optional<text::Tokenizer>& tokenizer_;
  int64_t count_ = 0;
};

/// One prompt's text is printed as it comes.
void generate_one(const generate::Generator& generator, const std::vector<int32_t>& prompt,
                  bool streaming, Printer& printer) {
  if (!streaming) return printer.print(0, generator.generate({prompt}).front());
  const auto output = generator.generate(
      {prompt}, 0, [](size_t, std::string_view text) { std::cout << text << std::flush; });
  std::cout << '\n';
  printer.count(static_cast<int64_t>(output.front().tokens.size()));
}

void generate_some(const GenerateOptions& options, const generate::Generator& generator,
                   const std::vector<std::vector<int32_t>>& prompts, uint64_t first,
                   Printer& printer) {
  if (options.beam) {
    const auto found = generator.search(prompts, options.search);
    for (size_t i = 0; i < found.size(); ++i) printer.print(first + i, found[i]);
  } else {
    const auto found = generator.generate(prompts, first);
    for (size_t i = 0; i < found.size(); ++i) printer.print(first + i, found[i]);
  }
}

/// What a prompt is read as; an empty one as the beginning of a text, where the model knows such.
std::vector<int32_t> tokens_of(const std::string& prompt, const text::Tokenizer& tokenizer,
                               const model::ModelConfig& config) {
  std::vector<int32_t> tokens = tokenizer.encode(prompt);
  if (tokens.empty() && config.bos_id >= 0) tokens.push_back(config.bos_id);
  return tokens;
}

/// The prompts on standard input, one a line.
void generate_lines(const GenerateOptions& options, const generate::Generator& generator,
                    const text::Tokenizer& tokenizer, const model::ModelConfig& config,
                    Printer& printer) {
  LineStream lines;
  uint64_t number = 0;
  for (std::vector<std::string> some = lines.next(); !some.empty(); some = lines.next()) {
    std::vector<std::vector<int32_t>> prompts;
    for (const std::string& line : some) prompts.push_back(tokens_of(line, tokenizer, config));
    generate_some(options, generator, prompts, number, printer);
    number += some.size();
    std::cout.flush();
  }
}

int run_generate(const GenerateOptions& options) {
  apply(options.common);
  if (options.prompt) text::require_utf8(*options.prompt, "the prompt");
  PendingTokenizer pending(options.model);
  const auto model = load_model(options.model);
  const auto tokenizer = tokenizer_for(options, pending, *model);
  const generate::Generator generator(*model, tokenizer,
                                      generator_options(options, model->config()));
  Printer printer(options, tokenizer);
  const auto start = std::chrono::steady_clock::now();
  if (!options.prompt && options.tokens.empty()) {
    generate_lines(options, generator, *tokenizer, model->config(), printer);
  } else {
    const auto prompt =
        options.prompt ? tokens_of(*options.prompt, *tokenizer, model->config()) : options.tokens;
    if (options.beam)
      generate_some(options, generator, {prompt}, 0, printer);
    else
      generate_one(generator, prompt, tokenizer && !options.json, printer);
  }
  std::cout.flush();
  require(std::cout.good(), "the outputs cannot be written to standard output");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "heed: %lld tokens in %.2f s (%.1f tokens/s)\n",
               static_cast<long long>(printer.tokens()), seconds.count(),
               static_cast<double>(printer.tokens()) / seconds.count());
  return 0;
}

void add_sampling_options(CLI::App& app, GenerateOptions& options) {
  CLI::Option* beam =
      app.add_option("--beam", options.search.beam,
                     "Search with so many hypotheses, instead of choosing token by token")
          ->check(CLI::Range(1, 256));
  app.add_option("--nbest", options.search.n_best, "Outputs printed per prompt, best first")
      ->needs(beam)
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--length-penalty", options.search.length_penalty,
                 "alpha of ((5 + length) / 6)^alpha, by which hypotheses are compared")
      ->needs(beam)
      ->capture_default_str();
  const auto chosen = [&](CLI::Option* option) { option->excludes(beam); };
  chosen(app.add_flag("--sample", options.sample, "Sample as generation_config.json suggests"));
  chosen(app.add_option("--temperature", options.temperature,
                        "Logits are divided by it; 0 is greedy, which is the default")
             ->check(CLI::Range(0.0, 1000.0)));
  chosen(app.add_option("--top-k", options.top_k, "Sample from the k most probable; 0: all")
             ->check(CLI::Range(int64_t{0}, kMost)));
  chosen(
      app.add_option("--top-p", options.top_p, "Sample from the most probable whose sum reaches p")
          ->check(CLI::Range(1e-6, 1.0)));
  chosen(app.add_option("--min-p", options.min_p,
                        "Sample from none less probable than so much of the most probable")
             ->check(CLI::Range(0.0, 1.0)));
  chosen(app.add_option("--repetition-penalty", options.repetition_penalty,
                        "Divides logits of tokens of prompt and output; 1: none")
             ->check(CLI::Range(1e-3, 1000.0)));
  chosen(app.add_option("--presence-penalty", options.presence_penalty,
                        "Taken from logits of tokens of the output")
             ->check(CLI::Range(-100.0, 100.0)));
  chosen(app.add_option("--frequency-penalty", options.frequency_penalty,
                        "The same, for each time that they occur")
             ->check(CLI::Range(-100.0, 100.0)));
  chosen(app.add_option("--logit-bias", options.logit_bias,
                        "ID:BIAS, added to a token's logit; -inf forbids it (repeatable)"));
  chosen(app.add_option("--stop", options.stop, "Text that ends the output (repeatable)"));
}

}  // namespace

void add_generate(CLI::App& program) {
  auto* app = program.add_subcommand(
      "generate", "Continues a prompt, or each line of standard input; or answers it");
  auto options = std::make_shared<GenerateOptions>();
  add_model_options(*app, options->model);
  auto* prompt = app->add_option("--prompt", options->prompt,
                                 "Text to go on with; without it, each line of standard input");
  app->add_option("--tokens", options->tokens, "Token numbers to go on with, instead of text")
      ->delimiter(',')
      ->excludes(prompt);
  app->add_option("--max-tokens", options->max_tokens, "Longest output (default: 256)")
      ->check(CLI::Range(kLeast, kMost));
  add_sampling_options(*app, *options);
  auto* json = app->add_flag("--json", options->json, "Print a JSON object a prompt");
  app->add_option("--logprobs", options->log_probabilities,
                  "Log-probability of each token, and of so many of the most probable")
      ->check(CLI::Range(0, 1000))
      ->needs(json)
      ->excludes("--beam");
  app->add_option("--batch-tokens", options->batch_tokens,
                  "Tokens of prompts and outputs that are decoded together; changes no result")
      ->check(CLI::Range(kLeast, kMost))
      ->capture_default_str();
  add_cache_option(*app, options->cache)
      ->excludes("--beam")
      ->description(
          "What keys and values are kept in: f32, bf16 or int8 (default: bf16 beside weights in "
          "blocks, otherwise as is computed)");
  add_common_options(*app, options->common);
  app->footer(
      "Examples:\n"
      "  heed generate --model model --prompt 'Once upon a time' --max-tokens 50\n"
      "  heed generate --model model.gguf --temperature 0.8 --top-p 0.9 --stop '\\n' < "
      "prompts.txt\n"
      "Of several prompts every output is one line, in which \\n stands for a line end.");
  set_action(*app, [app, options] {
    options->beam = app->count("--beam") > 0;
    return run_generate(*options);
  });
}

}  // namespace heed::cli
