#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/flush_output.h"
#include "cli/json_line.h"
#include "cli/line_stream.h"
#include "cli/model_options.h"
#include "heed/model.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

struct RerankArguments {
  CommonOptions common;
  ModelOptions model;
  ClassifyOptions classify;
  std::string query;
  std::optional<int64_t> top;
  bool json = false;
};

int run_rerank(const RerankArguments& arguments) {
  const Threads threads(arguments.common);
  text::require_utf8(arguments.query, "the query");
  const Model model = load_model(arguments.model, threads);
  std::vector<std::string> documents;
  LineStream lines;
  for (auto some = lines.next(); !some.empty(); some = lines.next())
    documents.insert(documents.end(), some.begin(), some.end());
  std::vector<RankedDocument> ranked = model.rerank(arguments.query, documents, arguments.classify);
  ranked.resize(std::min(ranked.size(), static_cast<size_t>(arguments.top.value_or(
                                            std::numeric_limits<int64_t>::max()))));
  for (const auto& [index, score] : ranked) {
    const std::string& document = documents[static_cast<size_t>(index)];
    if (arguments.json)
      std::cout << json_line({{"index", index}, {"score", score}, {"document", document}});
    else
      std::cout << fmt::format("{:.4f}\t{}\n", score, document);
  }
  flush_output();
  return 0;
}

}  // namespace

void add_rerank(Command& program) {
  Command command = program.add_subcommand(
      "rerank", "Sorts the lines of standard input by how well they answer a query");
  auto arguments = std::make_shared<RerankArguments>();
  add_model_options(command, arguments->model, false);
  command.add_option("--query", arguments->query, "The query").required();
  command.add_option("--top", arguments->top, "Lines printed, best first (default: all)")
      .range(int64_t{1}, int64_t{1} << 30);
  command
      .add_option("--max-seq-length", arguments->classify.max_seq_length,
                  "Truncate query and line together to this many tokens (default: the model's "
                  "context length)")
      .range(int64_t{1}, int64_t{1} << 30);
  command.add_flag("--json", arguments->json,
                   "Print one JSON object per line: its index from 0, score and text");
  add_common_options(command, arguments->common);
  command.footer(
      "The model is a cross-encoder. Each line of output is a score, a tab and a line of input.\n\n"
      "Example:\n  heed rerank --model ms-marco-MiniLM-L6-v2 --query 'Why is the sky blue?' "
      "< passages.txt");
  command.set_action([arguments] { return run_rerank(*arguments); });
}

}  // namespace heed::cli
