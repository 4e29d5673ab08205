#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/generate_chat.h"
#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/lines/token_count.h"
#include "cli/options/chat_options.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "cli/options/sampling_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/generate/generate_options.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

using generate::GenerateOption, generate::SearchOption;

using Json = nlohmann::ordered_json;

struct GenerateArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  ChatArguments chat_arguments;
  std::optional<std::string> prompt;
  std::vector<int32_t> tokens;
  SamplingArguments sampling;
  GenerateOptions generate;  // what `sampling` says
  SearchOptions search;
  bool beam_search = false, json = false, chat = false;
};

/// Whether outputs can be printed as text. Token ids need no tokenizer: without one, their output
/// is printed as token ids, too.
bool can_print_text(const GenerateArguments& arguments, const Model& model) {
  try {
    model.tokenizer("generation");
    return true;
  } catch (const Error& error) {
    if (arguments.tokens.empty()) throw;
    print_message(fmt::format("printing token ids instead of text: {}", error.what()));
    return false;
  }
}

std::string joined(const std::vector<int32_t>& tokens) {
  return fmt::format("{}", fmt::join(tokens, ","));
}

/// Prints outputs as text, token ids or JSON.
class Printer {
 public:
  /// Both must outlive this.
  Printer(const GenerateArguments& arguments, const Model& model)
      : arguments_(arguments), model_(model), text_(can_print_text(arguments, model)) {}

  bool prints_text() const { return text_; }

  /// The line of a prompt, and the numbers of its TokenCount.
  LineAnswer answer(int64_t number, const Generation& output) const {
    std::string text = arguments_.json ? json_of(number, output)
                       : text_         ? escape_line_ends(output.text) + '\n'
                                       : joined(output.tokens) + '\n';
    return {std::move(text), TokenCount(output).numbers()};
  }

  LineAnswer answer(int64_t number, const std::vector<Candidate>& outputs) const {
    Json list = Json::array();
    TokenCount count;
    std::string lines;
    for (const Candidate& candidate : outputs) {
      const Hypothesis& output = candidate.hypothesis;
      count.generated += static_cast<int64_t>(output.tokens.size());
      list.push_back({{"text", candidate.text},
                      {"tokens", output.tokens},
                      {"score", output.score},
                      {"log_probability", output.log_probability},
                      {"complete", output.complete}});
      if (arguments_.json) continue;
      if (arguments_.search.n_best > 1) lines += fmt::format("{} ||| ", number);
      lines += text_ ? escape_line_ends(candidate.text) : joined(output.tokens);
      if (arguments_.search.n_best > 1) lines += fmt::format(" ||| {:.6f}", output.score);
      lines += '\n';
    }
    if (arguments_.json) lines = json_line({{"prompt", number}, {"outputs", list}});
    return {std::move(lines), count.numbers()};
  }

 private:
  Json entry(const TokenLogProbability& token) const {
    Json json = {{"token", token.token}};
    if (text_) json["text"] = with_replacements(model_.token_bytes(token.token));
    json["log_probability"] = token.log_probability;
    if (!token.forbidden.empty()) json["forbidden"] = token.forbidden;
    return json;
  }

  std::string json_of(int64_t number, const Generation& output) const {
    Json json = {{"prompt", number}};
    if (text_) json["text"] = output.text;
    json["tokens"] = output.tokens;
    json["finish_reason"] = name_of(output.finish_reason);
    if (output.stop_string) json["stop_string"] = *output.stop_string;
    for (size_t i = 0; i < output.chosen.size(); ++i) {
      Json token = entry(output.chosen[i]);
      for (const auto& best : output.best[i]) token["best"].push_back(entry(best));
      json["log_probabilities"].push_back(std::move(token));
    }
    return json_line(json);
  }

  const GenerateArguments& arguments_;
  const Model& model_;
  bool text_;
};

/// Prints the output of a single prompt, as text while it is generated.
TokenCount generate_one(const GenerateArguments& arguments, const Model& model,
                        const Printer& printer) {
  const Prompt prompt = arguments.prompt ? Prompt(*arguments.prompt) : Prompt(arguments.tokens);
  if (!arguments.beam_search && !arguments.json && printer.prints_text()) {
    const Generation output = model.generate(prompt, arguments.generate, [](std::string_view text) {
      std::cout << text;
      flush_output();
    });
    std::cout << '\n';
    return TokenCount(output);
  }
  const LineAnswer answer =
      arguments.beam_search
          ? printer.answer(
                0, model.search_batch({prompt}, arguments.search, arguments.generate).front())
          : printer.answer(0, model.generate(prompt, arguments.generate));
  std::cout << answer.text;
  return TokenCount(answer.rows);
}

/// Generates an output for each line of standard input.
TokenCount generate_lines(const GenerateArguments& arguments, LineProcessor& processor,
                          const Model& model, const Printer& printer) {
  using Lines = std::vector<std::string>;
  const auto answer = [&](const auto& output, int64_t number) {
    return printer.answer(number - 1, output);
  };
  const auto search = [&](const Lines& lines, int64_t first) {
    return model.search_batch({lines.begin(), lines.end()}, arguments.search, arguments.generate,
                              first);
  };
  const auto generate = [&](const Lines& lines, int64_t first) {
    return model.generate_batch({lines.begin(), lines.end()}, arguments.generate, first);
  };
  const LineSums sums =
      processor.answer(model,
                       arguments.beam_search ? answer_in_batches(search, answer)
                                             : answer_in_batches(generate, answer),
                       TokenCount::kColumns);
  return TokenCount(sums.here);
}

TokenCount generate_text(const GenerateArguments& arguments, LineProcessor& processor,
                         const Model& model) {
  const Printer printer(arguments, model);
  return arguments.prompt || !arguments.tokens.empty()
             ? generate_one(arguments, model, printer)
             : generate_lines(arguments, processor, model, printer);
}

int run_generate(GenerateArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.prompt || !arguments.tokens.empty())
    require_one_rank("heed generate with one prompt");
  if (arguments.prompt) require_utf8(*arguments.prompt, "the prompt");
  check(arguments.search);
  arguments.generate = arguments.sampling.options(arguments.common.seed);
  const ChatOptions chat = arguments.chat_arguments.options();
  LineProcessor processor = line_processor(arguments.lines);
  processor.divide(arguments.model.load);
  const Model model =
      processor.load([&] { return load_model(arguments.model, threads, &ModelTasks::generate); });
  prepare_output(model, arguments.generate);
  const auto start = std::chrono::steady_clock::now();
  const TokenCount tokens = arguments.chat
                                ? generate_chat(processor, model, arguments.generate, chat)
                                : generate_text(arguments, processor, model);
  if (!processor.is_root()) return 0;
  flush_output();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::string drafts;
  if (tokens.drafted > 0)
    drafts = fmt::format(", {} of {} drafted tokens were right", tokens.accepted, tokens.drafted);
  print_message(fmt::format("{} tokens in {:.2f} s ({:.1f} tokens/s){}", tokens.generated,
                            seconds.count(),
                            static_cast<double>(tokens.generated) / seconds.count(), drafts));
  return 0;
}

void add_beam_options(Command& command, SearchOptions& search) {
  Option beam =
      add_declared_option(command, SearchOption::num_beams, search)
          .description("Beam search with this many beams instead of sampling or greedy search");
  command.add_renamed("--beam", "--num-beams");
  add_declared_option(command, SearchOption::n_best, search, "--nbest")
      .description("Outputs printed per prompt, best first")
      .needs(beam)
      .show_default();
  add_declared_option(command, SearchOption::length_penalty, search).needs(beam).show_default();
}

}  // namespace

void add_generate(Command& program) {
  Command command = program.add_subcommand(
      "generate", "Generates text from a prompt, or from each line of standard input");
  auto arguments = std::make_shared<GenerateArguments>();
  add_model_options(command, arguments->model);
  Option prompt = command.add_option("--prompt", arguments->prompt,
                                     "Prompt (default: each line of standard input is a prompt)");
  command
      .add_option("--tokens", arguments->tokens,
                  "Prompt as comma-separated token ids instead of text")
      .delimiter(',')
      .excludes(prompt);
  add_max_new_tokens(command, arguments->sampling, "from generation_config.json, else 256");
  command.add_renamed("--max-tokens", "--max-new-tokens");
  add_beam_options(command, arguments->search);
  for (Option option : add_sampling_options(command, arguments->sampling))
    option.excludes(command.option("--num-beams"));
  add_seed_option(command, arguments->common).excludes(command.option("--num-beams"));
  add_structured_output_options(command, arguments->sampling);
  Option json = command.add_flag("--json", arguments->json, "Print one JSON object per prompt");
  add_declared_option(command, GenerateOption::top_log_probabilities, arguments->sampling.generate,
                      "--logprobs")
      .needs(json)
      .excludes(command.option("--num-beams"));
  add_declared_option(command, GenerateOption::batch_tokens, arguments->sampling.generate)
      .show_default();
  add_cache_option(command, arguments->model)
      .excludes(command.option("--num-beams"))
      .description(
          "Type of the kv cache (default: bf16 with quantised weights, else the type of the "
          "activations)");
  for (Option option : add_speculation_options(command, arguments->model))
    option.excludes(command.option("--num-beams"));
  add_line_options(command, arguments->lines);
  add_tensor_parallel_option(command, arguments->lines);
  add_threads_option(command, arguments->common);
  Option chat = command.add_flag(
      "--chat", arguments->chat,
      "Answer conversations: each line of standard input is a JSON list of messages, or an object "
      "with messages and tools; each output is one JSON object");
  for (const char* other :
       {"--prompt", "--tokens", "--num-beams", "--json", "--logprobs", "--tensor-parallel"})
    chat.excludes(command.option(other));
  for (Option option : add_chat_options(command, arguments->chat_arguments)) option.needs(chat);
  command.footer(
      "Examples:\n"
      "  heed generate model --prompt 'Once upon a time' --max-new-tokens 50\n"
      "  heed generate model.gguf --temperature 0.8 --top-p 0.9 --stop $'\\n' < prompts.txt\n"
      "  heed generate model --chat <<< '[{\"role\": \"user\", \"content\": \"Hello\"}]'\n"
      "With prompts on standard input, each output is one line, in which \\n stands for a line "
      "end.");
  command.set_action(
      [command, arguments] {
        arguments->beam_search = command.count("--num-beams") > 0;
        return run_generate(*arguments);
      },
      Ranks::several);
}

}  // namespace heed::cli
