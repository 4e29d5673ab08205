#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/base/utf8.h"
#include "heed/model.h"
#include "heed/tasks/task_options.h"

namespace heed::cli {
namespace {

using tasks::ClassifyOption;

struct RerankArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  ClassifyOptions classify;
  std::string query;
  std::optional<int64_t> top;
  bool json = false;
};

/// Rank 0 sorts what all ranks have scored.
int run_rerank(const RerankArguments& arguments) {
  const Threads threads(arguments.common);
  require_utf8(arguments.query, "the query");
  const auto scores_of = [&](const Model& model, const NumberedLines& documents) {
    return model.document_scores(arguments.query, documents.lines, arguments.classify,
                                 documents.first);
  };
  LineProcessor processor = line_processor(arguments.lines);
  const Model model = processor.load([&] {
    Model loaded = load_model(arguments.model, threads, &ModelTasks::rerank);
    scores_of(loaded, {});  // no line is to blame
    return loaded;
  });
  const std::vector<LineAnswer> scored = processor.collect(
      model, [&](const NumberedLines& documents, std::vector<LineAnswer>& answers) {
        const std::vector<double> scores = scores_of(model, documents);
        for (size_t i = 0; i < scores.size(); ++i)
          answers.emplace_back(documents.lines[i], std::vector{scores[i]});
      });
  const auto score_of = [&](size_t index) { return scored[index].rows.front(); };
  std::vector<size_t> best(scored.size());
  std::iota(best.begin(), best.end(), size_t{0});
  std::ranges::stable_sort(best, std::greater(), score_of);
  best.resize(std::min(best.size(), static_cast<size_t>(arguments.top.value_or(
                                        std::numeric_limits<int64_t>::max()))));
  for (const size_t index : best) {
    const std::string& document = scored[index].text;
    if (arguments.json)
      std::cout << json_line(
          {{"index", index}, {"score", score_of(index)}, {"document", document}});
    else
      std::cout << fmt::format("{:.4f}\t{}\n", score_of(index), document);
  }
  flush_output();
  return 0;
}

}  // namespace

void add_rerank(Command& program) {
  Command command = program.add_subcommand(
      "rerank", "Sorts the lines of standard input by how well they answer a query");
  auto arguments = std::make_shared<RerankArguments>();
  add_model_options(command, arguments->model);
  command.add_option("--query", arguments->query, "The query").required();
  command.add_option("--top", arguments->top, "Lines printed, best first (default: all)")
      .range(int64_t{1}, kMaxTyped);
  add_declared_option(command, ClassifyOption::max_seq_length, arguments->classify)
      .description(
          "Truncate query and line together, or with ColBERT the line, to this many tokens "
          "(default: model_max_length of tokenizer_config.json, else the model's context length). "
          "A language model that answers yes or no needs more than those of its prompt");
  add_declared_option(command, ClassifyOption::prompt, arguments->classify);
  add_declared_option(command, ClassifyOption::batch_tokens, arguments->classify);
  command.add_flag("--json", arguments->json,
                   "Print one JSON object per line: its index from 0, score and document");
  add_input_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer(
      "The model is a cross-encoder, a language model that answers yes or no, or one\n"
      "with a vector for each token (ColBERT), whose score is MaxSim. Each line of\n"
      "output is a score, a tab and a line of input.\n\n"
      "Example:\n  heed rerank --model ms-marco-MiniLM-L6-v2 --query 'Why is the sky blue?' "
      "< passages.txt");
  command.set_action([arguments] { return run_rerank(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
