#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/model.h"
#include "heed/tasks/task_options.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  ScoreOptions score;
  bool json = false;
};

Json summary(double tokens, double log_probability) {
  return {{"tokens", static_cast<int64_t>(tokens)},
          {"log_probability", log_probability},
          {"perplexity", tokens > 0 ? std::exp(-log_probability / tokens) : 1.0}};
}

Json summary(const Score& score) {
  return summary(static_cast<double>(score.log_probabilities.size()), score.log_probability());
}

std::string line_of(const Json& facts, bool json) {
  return json ? json_line(facts)
              : fmt::format("{} tokens, log-probability {:.4f}, perplexity {:.4f}\n",
                            facts["tokens"].get<size_t>(), facts["log_probability"].get<double>(),
                            facts["perplexity"].get<double>());
}

/// Rows of 1 and the log-probability of a token, whose sums give the summary.
constexpr size_t kColumns = 2;
std::vector<double> rows_of(const std::vector<double>& log_probabilities) {
  std::vector<double> rows;
  for (const double log_probability : log_probabilities) {
    rows.push_back(1);
    rows.push_back(log_probability);
  }
  return rows;
}

/// JSON lines of tokens. The scores belong to the last ones; earlier ones have none, printed as
/// null.
std::string tokens_of(const Model& model, std::span<const int32_t> tokens,
                      std::span<const double> scores) {
  const size_t unscored = tokens.size() - scores.size();
  std::string lines;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Json line = {{"token", tokens[i]}, {"text", with_replacements(model.token_bytes(tokens[i]))}};
    line["log_probability"] = i < unscored ? Json() : Json(scores[i - unscored]);
    lines += json_line(line);
  }
  return lines;
}

/// The answer to a line: a source, a tab and a target.
LineAnswer answer_pair(const ScoreArguments& arguments, const Model& model, const std::string& line,
                       int64_t number) {
  const size_t tab = line.find('\t');
  require(tab != std::string::npos, "expected source, tab, target; found no tab");
  const Score score = model.score_pair(line.substr(0, tab), line.substr(tab + 1));
  std::string text;
  if (arguments.json) {
    Json facts = {{"line", number - 1}};
    facts.update(summary(score));
    text = tokens_of(model, score.tokens, score.log_probabilities) + json_line(facts);
  } else {
    text = fmt::format("{} ||| ", number - 1) + line_of(summary(score), false);
  }
  return {std::move(text), rows_of(score.log_probabilities)};
}

/// Scores each line of standard input as a pair.
LineSums score_pairs(const ScoreArguments& arguments, LineProcessor& processor,
                     const Model& model) {
  const ScoreOptions& options = arguments.score;
  require(!options.window && !options.stride && !arguments.model.load.cache,
          "--window, --stride and --cache are for decoder-only models");
  LineSums sums =
      processor.answer(model, answer_one_by_one([&](const std::string& line, int64_t number) {
                         return answer_pair(arguments, model, line, number);
                       }),
                       kColumns);
  require(!processor.is_root() || sums.all[0] > 0, "standard input has no pairs to score");
  return sums;
}

/// A window as bytes: how many tokens are scored, and all of them.
std::string to_bytes(const ScoreWindow& window) {
  std::vector<int32_t> numbers{static_cast<int32_t>(window.scored)};
  numbers.insert(numbers.end(), window.tokens.begin(), window.tokens.end());
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int32_t)};
}

ScoreWindow window_of(const std::string& bytes) {
  std::vector<int32_t> numbers(bytes.size() / sizeof(int32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return {.tokens = {numbers.begin() + 1, numbers.end()}, .scored = numbers.front()};
}

/// Scores standard input as one text, whose windows ranks share.
LineSums score_text(const ScoreArguments& arguments, LineProcessor& processor, const Model& model) {
  std::vector<std::string> parts;
  if (processor.is_root()) {
    const std::string text = read_standard_input();
    require_utf8(text, "standard input");
    for (const auto& window : model.score_windows(text, arguments.score))
      parts.push_back(to_bytes(window));
  }
  const auto answer = [&](const NumberedLines& windows, std::vector<LineAnswer>& answers) {
    for (const std::string& bytes : windows.lines) {
      const ScoreWindow window = window_of(bytes);
      const std::vector<double> scores = model.score_window(window);
      // The context of a later window belongs to those before it.
      const bool first = windows.first == 1 && &bytes == &windows.lines.front();
      const std::span tokens = std::span(window.tokens).last(scores.size() + (first ? 1 : 0));
      answers.emplace_back(arguments.json ? tokens_of(model, tokens, scores) : "", rows_of(scores));
    }
  };
  return processor.answer_parts("window", std::move(parts), model, answer, kColumns);
}

int run_score(ScoreArguments& arguments) {
  const Threads threads(arguments.common);
  LineProcessor processor = line_processor(arguments.lines);
  processor.divide(arguments.model.load);
  const Model model =
      processor.load([&] { return load_model(arguments.model, threads, &ModelTasks::score); });
  const bool pairs = model.has_encoder() && model.has_decoder();
  const LineSums sums = (pairs ? score_pairs : score_text)(arguments, processor, model);
  if (processor.is_root())
    processor.conclude(line_of(summary(sums.all[0], sums.all[1]), arguments.json));
  return 0;
}

}  // namespace

void add_score(Command& program) {
  Command command = program.add_subcommand(
      "score",
      "Computes the log-probability and perplexity of a text, or of targets given sources");
  auto arguments = std::make_shared<ScoreArguments>();
  add_model_options(command, arguments->model);
  add_declared_option(command, tasks::ScoreOption::window, arguments->score);
  add_declared_option(command, tasks::ScoreOption::stride, arguments->score);
  add_cache_option(command, arguments->model);
  command.add_flag("--json", arguments->json,
                   "Print one JSON object per token, per pair and for the whole input");
  add_line_options(command, arguments->lines);
  add_tensor_parallel_option(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed score --model model < text.txt\n"
      "  paste source.txt target.txt | heed score --model translator\n"
      "For a decoder-only model, standard input is one text. For an encoder-decoder, each line is "
      "a\n"
      "source, a tab and a target.");
  command.set_action([arguments] { return run_score(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
