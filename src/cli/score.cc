#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/answer_lines.h"
#include "cli/cache_option.h"
#include "cli/command.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "cli/standard_input.h"
#include "heed/base/error.h"
#include "heed/generate/scorer.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreOptions {
  CommonOptions common;
  ModelOptions model;
  generate::ScoreOptions score;
  bool json = false;
};

Json summary(const std::vector<double>& scores) {
  return {{"tokens", scores.size()},
          {"log_probability", std::accumulate(scores.begin(), scores.end(), 0.0)},
          {"perplexity", generate::perplexity(scores)}};
}

void print_summary(const std::vector<double>& scores, bool json) {
  const Json facts = summary(scores);
  if (json)
    std::cout << json_line(facts);
  else
    std::cout << fmt::format("{} tokens, log-probability {:.4f}, perplexity {:.4f}\n",
                             facts["tokens"].get<size_t>(), facts["log_probability"].get<double>(),
                             facts["perplexity"].get<double>());
}

/// The scores belong to the last tokens. Earlier tokens have no score, printed as null.
template <typename Word>
void print_tokens(const std::vector<int32_t>& tokens, const std::vector<double>& scores,
                  const Word& word) {
  const size_t unscored = tokens.size() - scores.size();
  for (size_t i = 0; i < tokens.size(); ++i) {
    Json line = {{"token", tokens[i]}, {"text", word(tokens[i])}};
    line["log_probability"] = i < unscored ? Json() : Json(scores[i - unscored]);
    std::cout << json_line(line);
  }
}

/// Scores standard input as one text.
std::vector<double> score_text(const ScoreOptions& options, const model::Transformer& model) {
  const text::Tokenizer tokenizer = load_tokenizer(options.model, model);
  const std::string text = read_standard_input();
  text::require_utf8(text, "standard input");
  const std::vector<int32_t> tokens = tokenizer.encode(text);
  require(tokens.size() >= 2,
          "expected at least 2 tokens on standard input, found {}: the first is not scored",
          tokens.size());
  generate::ScoreOptions score = options.score;
  score.dtype = activation_dtype(options.model);
  const std::vector<double> scores = generate::score_text(model, tokens, score);
  if (options.json)
    print_tokens(tokens, scores,
                 [&](int32_t token) { return tokenizer.decode(std::vector{token}, false); });
  return scores;
}

/// Prints the scores of a line: a source, a tab and a target.
std::vector<double> score_pair(const ScoreOptions& options, const model::Transformer& model,
                               const text::PairTokenizer& tokenizer, const std::string& line,
                               int64_t number) {
  const size_t tab = line.find('\t');
  require(tab != std::string::npos, "expected source, tab, target; found no tab");
  const std::vector<int32_t> target = tokenizer.encode_target(line.substr(tab + 1));
  const std::vector<double> scores = generate::score_target(
      model, tokenizer.encode_source(line.substr(0, tab)), target, activation_dtype(options.model));
  if (options.json) {
    print_tokens(target, scores, [&](int32_t token) { return tokenizer.readable(token); });
    Json facts = {{"line", number}};
    facts.update(summary(scores));
    std::cout << json_line(facts);
  } else {
    std::cout << fmt::format("{} ||| ", number);
    print_summary(scores, false);
  }
  return scores;
}

/// Scores each line of standard input as a pair.
std::vector<double> score_pairs(const ScoreOptions& options, const model::Transformer& model) {
  const generate::ScoreOptions& score = options.score;
  require(!score.window && !score.stride && !score.cache_dtype,
          "--window, --stride and --cache are for decoder-only models");
  const text::PairTokenizer tokenizer = load_pair_tokenizer(options.model, model);
  std::vector<double> all;
  for_each_line([&](const std::string& line, int64_t number) {
    const auto scores = score_pair(options, model, tokenizer, line, number);
    all.insert(all.end(), scores.begin(), scores.end());
  });
  require(!all.empty(), "standard input has no pairs to score");
  return all;
}

int run_score(const ScoreOptions& options) {
  const Threads threads(options.common);
  const auto model = load_model(options.model);
  require(model->has_decoder(),
          "{} is encoder-only and cannot score text, expected a model with a decoder",
          options.model.path);
  const bool pairs = model->has_encoder();
  print_summary(pairs ? score_pairs(options, *model) : score_text(options, *model), options.json);
  return 0;
}

}  // namespace

void add_score(Command& program) {
  Command command = program.add_subcommand(
      "score",
      "Computes the log-probability and perplexity of a text, or of targets given sources");
  auto options = std::make_shared<ScoreOptions>();
  add_model_options(command, options->model);
  command
      .add_option("--window", options->score.window,
                  "Tokens per window (default: the model's context length)")
      .range(int64_t{1}, int64_t{1} << 30);
  command
      .add_option("--stride", options->score.stride,
                  "Tokens between the starts of successive windows (default: half a window)")
      .range(int64_t{1}, int64_t{1} << 30);
  add_cache_option(command, options->score.cache_dtype);
  command.add_flag("--json", options->json,
                   "Print one JSON object per token, per pair and for the whole input");
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed score --model model < text.txt\n"
      "  paste source.txt target.txt | heed score --model translator\n"
      "For a decoder-only model, standard input is one text. For an encoder-decoder, each line is "
      "a\n"
      "source, a tab and a target.");
  command.set_action([options] { return run_score(*options); });
}

}  // namespace heed::cli
