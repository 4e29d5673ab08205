#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "heed/base/error.h"
#include "heed/base/text_lines.h"
#include "heed/metrics.h"

namespace heed::cli {
namespace {

struct EvaluateOptions {
  CommonOptions common;
  std::string metric, reference;
  bool json = false;
};

std::vector<std::string> read_hypotheses() {
  std::vector<std::string> lines;
  TextLines input;
  for (std::string line; input.next(line);) lines.push_back(line);
  return lines;
}

int run_evaluate(const EvaluateOptions& options) {
  const Threads threads(options.common);
  const std::vector<std::string> references = read_lines(options.reference);
  const std::vector<std::string> hypotheses = read_hypotheses();
  require(hypotheses.size() == references.size(), "standard input has {} lines, {} has {}",
          hypotheses.size(), options.reference, references.size());
  std::string text, signature;
  double score = 0;
  if (options.metric == "bleu") {
    const Bleu bleu = corpus_bleu(hypotheses, references);
    text = bleu.text();
    signature = bleu.signature();
    score = bleu.score;
  } else {
    const Chrf chrf = corpus_chrf(hypotheses, references);
    text = chrf.text();
    signature = chrf.signature();
    score = chrf.score;
  }
  if (options.json)
    std::cout << json_line(
        {{"metric", options.metric}, {"score", score}, {"text", text}, {"signature", signature}});
  else
    std::cout << text << '\n' << signature << '\n';
  return 0;
}

}  // namespace

void add_evaluate(Command& program) {
  Command command = program.add_subcommand(
      "evaluate", "Scores translations on standard input against references: BLEU or chrF");
  auto options = std::make_shared<EvaluateOptions>();
  command.add_option("metric", options->metric, "Metric").required().one_of({"bleu", "chrf"});
  command
      .add_option("--reference", options->reference, "File of reference translations, one per line")
      .required();
  command.add_flag("--json", options->json, "Print one JSON object");
  add_threads_option(command, options->common);
  command.footer(
      "Example:\n"
      "  heed translate --model model < test.en | heed evaluate bleu --reference test.es\n"
      "Scores equal those of sacrebleu with its default settings.");
  command.set_action([options] { return run_evaluate(*options); });
}

}  // namespace heed::cli
