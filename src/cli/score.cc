#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/command.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "cli/standard_input.h"
#include "heed/base/error.h"
#include "heed/model.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreArguments {
  CommonOptions common;
  ModelOptions model;
  ScoreOptions score;
  bool json = false;
};

Json summary(const Score& score) {
  return {{"tokens", score.log_probabilities.size()},
          {"log_probability", score.log_probability()},
          {"perplexity", score.perplexity()}};
}

void print_summary(const Score& score, bool json) {
  const Json facts = summary(score);
  if (json)
    std::cout << json_line(facts);
  else
    std::cout << fmt::format("{} tokens, log-probability {:.4f}, perplexity {:.4f}\n",
                             facts["tokens"].get<size_t>(), facts["log_probability"].get<double>(),
                             facts["perplexity"].get<double>());
}

/// The scores belong to the last tokens. Earlier tokens have no score, printed as null.
void print_tokens(const Model& model, const Score& score) {
  const size_t unscored = score.tokens.size() - score.log_probabilities.size();
  for (size_t i = 0; i < score.tokens.size(); ++i) {
    Json line = {{"token", score.tokens[i]}, {"text", model.token_text(score.tokens[i])}};
    line["log_probability"] = i < unscored ? Json() : Json(score.log_probabilities[i - unscored]);
    std::cout << json_line(line);
  }
}

/// Scores standard input as one text.
Score score_text(const ScoreArguments& arguments, const Model& model) {
  const std::string text = read_standard_input();
  text::require_utf8(text, "standard input");
  Score score = model.score(text, arguments.score);
  if (arguments.json) print_tokens(model, score);
  return score;
}

/// Prints the scores of a line: a source, a tab and a target.
Score score_line(const ScoreArguments& arguments, const Model& model, const std::string& line,
                 int64_t number) {
  const size_t tab = line.find('\t');
  require(tab != std::string::npos, "expected source, tab, target; found no tab");
  Score score = model.score_pair(line.substr(0, tab), line.substr(tab + 1));
  if (arguments.json) {
    print_tokens(model, score);
    Json facts = {{"line", number}};
    facts.update(summary(score));
    std::cout << json_line(facts);
  } else {
    std::cout << fmt::format("{} ||| ", number);
    print_summary(score, false);
  }
  return score;
}

/// Scores each line of standard input as a pair. The result has no tokens.
Score score_lines(const ScoreArguments& arguments, const Model& model) {
  const ScoreOptions& options = arguments.score;
  require(!options.window && !options.stride && !arguments.model.load.cache,
          "--window, --stride and --cache are for decoder-only models");
  Score all;
  for_each_line([&](const std::string& line, int64_t number) {
    const Score score = score_line(arguments, model, line, number);
    all.log_probabilities.insert(all.log_probabilities.end(), score.log_probabilities.begin(),
                                 score.log_probabilities.end());
  });
  require(!all.log_probabilities.empty(), "standard input has no pairs to score");
  return all;
}

int run_score(const ScoreArguments& arguments) {
  const Threads threads(arguments.common);
  const Model model = load_model(arguments.model, threads);
  const bool pairs = model.has_encoder() && model.has_decoder();
  print_summary(pairs ? score_lines(arguments, model) : score_text(arguments, model),
                arguments.json);
  return 0;
}

}  // namespace

void add_score(Command& program) {
  Command command = program.add_subcommand(
      "score",
      "Computes the log-probability and perplexity of a text, or of targets given sources");
  auto arguments = std::make_shared<ScoreArguments>();
  add_model_options(command, arguments->model);
  command
      .add_option("--window", arguments->score.window,
                  "Tokens per window (default: the model's context length)")
      .range(int64_t{1}, int64_t{1} << 30);
  command
      .add_option("--stride", arguments->score.stride,
                  "Tokens between the starts of successive windows (default: half a window)")
      .range(int64_t{1}, int64_t{1} << 30);
  add_cache_option(command, arguments->model);
  command.add_flag("--json", arguments->json,
                   "Print one JSON object per token, per pair and for the whole input");
  add_common_options(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed score --model model < text.txt\n"
      "  paste source.txt target.txt | heed score --model translator\n"
      "For a decoder-only model, standard input is one text. For an encoder-decoder, each line is "
      "a\n"
      "source, a tab and a target.");
  command.set_action([arguments] { return run_score(*arguments); });
}

}  // namespace heed::cli
