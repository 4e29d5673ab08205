#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/cache_option.h"
#include "cli/command.h"
#include "cli/escape_line_ends.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/generate/generation_config.h"
#include "heed/generate/generator.h"
#include "heed/inspect/markup.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using generate::Generation;
using Json = nlohmann::ordered_json;

struct GenerateOptions {
  CommonOptions common;
  ModelOptions model;
  std::optional<DType> cache;
  std::optional<std::string> prompt;
  std::vector<int32_t> tokens;
  std::optional<int64_t> max_new_tokens, top_k;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  float presence_penalty = 0, frequency_penalty = 0;
  std::vector<std::string> stop, logit_bias;
  generate::SearchOptions search;
  int log_probabilities = -1;
  int64_t batch_tokens = 16384;
  bool sample = false, beam_search = false, json = false;
};

/// Parses "ID:BIAS"; nothing if it is malformed.
std::optional<generate::TokenBias> parse_bias(const std::string& text) {
  generate::TokenBias bias;
  const char* const end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.token);
  if (id.ec != std::errc() || id.ptr == end || *id.ptr != ':') return std::nullopt;
  const auto number = std::from_chars(id.ptr + 1, end, bias.bias);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  return bias;
}

/// Greedy decoding unless an option asks for sampling. Defaults come from generation_config.json.
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
  for (const std::string& text : options.logit_bias)
    sampling.logit_bias.push_back(*parse_bias(text));
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
  result.max_new_tokens = options.max_new_tokens.value_or(suggested.max_new_tokens.value_or(256));
  result.eos_ids = suggested.eos_ids;
  result.stop = options.stop;
  result.forced_bos_id = suggested.forced_bos_id;
  result.top_log_probabilities = options.log_probabilities;
  result.batch_tokens = options.batch_tokens;
  return result;
}

/// The tokenizer; none if the prompt is token ids and the tokenizer cannot be loaded.
std::optional<text::Tokenizer> tokenizer_for(const GenerateOptions& options,
                                             PendingTokenizer& tokenizer,
                                             const model::Transformer& model) {
  if (options.tokens.empty()) return tokenizer.get(model);
  try {
    return tokenizer.get(model);
  } catch (const Error& error) {
    std::fprintf(stderr, "heed: printing token ids instead of text: %s\n",
                 inspect::printable(error.what()).c_str());
    return std::nullopt;
  }
}

std::string joined(const std::vector<int32_t>& tokens) {
  return fmt::format("{}", fmt::join(tokens, ","));
}

/// Prints outputs and counts their tokens.
class Printer {
 public:
  Printer(const GenerateOptions& options, const std::optional<text::Tokenizer>& tokenizer)
      : options_(options), tokenizer_(tokenizer) {}

  void print(uint64_t number, const Generation& output) {
    count_ += static_cast<int64_t>(output.tokens.size());
    if (options_.json) return print_json(number, output);
    std::cout << (tokenizer_ ? escape_line_ends(output.text) : joined(output.tokens)) << '\n';
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
      std::cout << (tokenizer_ ? escape_line_ends(text) : joined(output.tokens));
      if (options_.search.n_best > 1) std::cout << fmt::format(" ||| {:.6f}", output.score);
      std::cout << '\n';
    }
    if (options_.json) std::cout << json_line({{"prompt", number}, {"outputs", list}});
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
    json["finish_reason"] = generate::name_of(output.finish_reason);
    if (output.stop_string) json["stop_string"] = *output.stop_string;
    for (size_t i = 0; i < output.chosen.size(); ++i) {
      Json token = entry(output.chosen[i]);
      for (const auto& best : output.best[i]) token["best"].push_back(entry(best));
      json["log_probabilities"].push_back(std::move(token));
    }
    std::cout << json_line(json);
  }

  const GenerateOptions& options_;
  const std::optional<text::Tokenizer>& tokenizer_;
  int64_t count_ = 0;
};

/// Prints the output of a single prompt, while it is generated if `streaming`.
void generate_one(const generate::Generator& generator, const std::vector<int32_t>& prompt,
                  bool streaming, Printer& printer) {
  if (!streaming) return printer.print(0, generator.generate({prompt}).front());
  const auto output = generator.generate({prompt}, 0, [](size_t, std::string_view text) {
    std::cout << text;
    flush_output();
  });
  std::cout << '\n';
  printer.count(static_cast<int64_t>(output.front().tokens.size()));
}

/// The tokens of a prompt. An empty prompt becomes the beginning-of-sequence token if the model has
/// one.
std::vector<int32_t> tokens_of(const std::string& prompt, const text::Tokenizer& tokenizer,
                               const model::ModelConfig& config) {
  std::vector<int32_t> tokens = tokenizer.encode(prompt);
  if (tokens.empty() && config.bos_id >= 0) tokens.push_back(config.bos_id);
  return tokens;
}

/// Generates an output for each line of standard input.
void generate_lines(const GenerateOptions& options, const generate::Generator& generator,
                    const text::Tokenizer& tokenizer, const model::ModelConfig& config,
                    Printer& printer) {
  const auto prompts_of = [&](const std::vector<std::string>& lines, int64_t first) {
    std::vector<std::vector<int32_t>> prompts;
    for (const std::string& line : lines)
      prompts.push_back(generate::name_input("prompt", first + static_cast<int64_t>(prompts.size()),
                                             [&] { return tokens_of(line, tokenizer, config); }));
    return prompts;
  };
  const auto print = [&](const auto& output, int64_t number) {
    printer.print(static_cast<uint64_t>(number - 1), output);
  };
  if (options.beam_search)
    answer_lines(
        [&](const std::vector<std::string>& lines, int64_t first) {
          return generator.search(prompts_of(lines, first), options.search,
                                  static_cast<uint64_t>(first - 1));
        },
        print);
  else
    answer_lines(
        [&](const std::vector<std::string>& lines, int64_t first) {
          return generator.generate(prompts_of(lines, first), static_cast<uint64_t>(first - 1));
        },
        print);
}

int run_generate(const GenerateOptions& options) {
  const Threads threads(options.common);
  if (options.prompt) text::require_utf8(*options.prompt, "the prompt");
  for (const std::string& stop : options.stop) text::require_utf8(stop, "--stop");
  generate::check(options.search);
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
    if (options.beam_search)
      printer.print(0, generator.search({prompt}, options.search).front());
    else
      generate_one(generator, prompt, tokenizer && !options.json, printer);
  }
  flush_output();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "heed: %lld tokens in %.2f s (%.1f tokens/s)\n",
               static_cast<long long>(printer.tokens()), seconds.count(),
               static_cast<double>(printer.tokens()) / seconds.count());
  return 0;
}

void add_sampling_options(Command& command, GenerateOptions& options) {
  Option beam =
      command
          .add_option("--num-beams", options.search.num_beams,
                      "Beam search with this many beams instead of sampling or greedy search")
          .range(1, generate::kMaxBeams);
  command.add_renamed("--beam", "--num-beams");
  command.add_option("--nbest", options.search.n_best, "Outputs printed per prompt, best first")
      .needs(beam)
      .range(1, generate::kMaxBeams)
      .show_default();
  command
      .add_option("--length-penalty", options.search.length_penalty,
                  "Exponent alpha of the length penalty ((5 + length) / 6)^alpha; 0: none")
      .needs(beam)
      .show_default();
  const auto without_beam = [&](Option option) { option.excludes(beam); };
  without_beam(command.add_flag("--sample", options.sample,
                                "Sample with the settings of generation_config.json"));
  without_beam(
      command
          .add_option(
              "--temperature", options.temperature,
              "Sampling temperature, which divides the logits; 0 (default): greedy decoding")
          .range(0.0, 1000.0));
  without_beam(
      command.add_option("--top-k", options.top_k, "Sample from the k most probable tokens; 0: all")
          .range(int64_t{0}, kMaxCount));
  without_beam(
      command
          .add_option(
              "--top-p", options.top_p,
              "Sample from the smallest set of most probable tokens with total probability p")
          .range(1e-6, 1.0));
  without_beam(
      command
          .add_option("--min-p", options.min_p,
                      "Exclude tokens with less than this fraction of the highest probability")
          .range(0.0, 1.0));
  without_beam(
      command
          .add_option(
              "--repetition-penalty", options.repetition_penalty,
              "Makes tokens of prompt and output less probable (Keskar et al. 2019); 1: off")
          .range(1e-3, 1000.0));
  without_beam(command
                   .add_option("--presence-penalty", options.presence_penalty,
                               "Subtracted from the logits of tokens in the output")
                   .range(-100.0, 100.0));
  without_beam(
      command
          .add_option("--frequency-penalty", options.frequency_penalty,
                      "Subtracted from the logits of tokens for each occurrence in the output")
          .range(-100.0, 100.0));
  without_beam(
      command
          .add_option(
              "--logit-bias", options.logit_bias,
              "ID:BIAS adds BIAS to the logit of token ID; -inf forbids the token (repeatable)")
          .check([](const std::string& text) {
            return parse_bias(text) ? std::string()
                                    : text + " is not of the form ID:BIAS, for example 12:-inf";
          }));
  without_beam(command
                   .add_option("--stop", options.stop,
                               "String that ends the output; it is not printed (repeatable)")
                   .not_empty());
}

}  // namespace

void add_generate(Command& program) {
  Command command = program.add_subcommand(
      "generate", "Generates text from a prompt, or from each line of standard input");
  auto options = std::make_shared<GenerateOptions>();
  add_model_options(command, options->model);
  Option prompt = command.add_option("--prompt", options->prompt,
                                     "Prompt (default: each line of standard input is a prompt)");
  command
      .add_option("--tokens", options->tokens,
                  "Prompt as comma-separated token ids instead of text")
      .delimiter(',')
      .excludes(prompt);
  command
      .add_option("--max-new-tokens", options->max_new_tokens,
                  "Maximum number of tokens to generate (default: from generation_config.json, "
                  "else 256)")
      .range(int64_t{1}, kMaxCount);
  command.add_renamed("--max-tokens", "--max-new-tokens");
  add_sampling_options(command, *options);
  Option json = command.add_flag("--json", options->json, "Print one JSON object per prompt");
  command
      .add_option(
          "--logprobs", options->log_probabilities,
          "Add the log-probability of each token, and those of this many most probable tokens")
      .range(0, 1000)
      .needs(json)
      .excludes(command.option("--num-beams"));
  command
      .add_option("--batch-tokens", options->batch_tokens,
                  "Tokens of prompts and outputs per batch; does not change results")
      .range(int64_t{1}, kMaxCount)
      .show_default();
  add_cache_option(command, options->cache)
      .excludes(command.option("--num-beams"))
      .description(
          "Type of the kv cache (default: bf16 with quantised weights, else the type of the "
          "activations)");
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed generate --model model --prompt 'Once upon a time' --max-new-tokens 50\n"
      "  heed generate --model model.gguf --temperature 0.8 --top-p 0.9 --stop $'\\n' < "
      "prompts.txt\n"
      "With prompts on standard input, each output is one line, in which \\n stands for a line "
      "end.");
  command.set_action([command, options] {
    options->beam_search = command.count("--num-beams") > 0;
    return run_generate(*options);
  });
}

}  // namespace heed::cli
