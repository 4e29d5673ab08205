#include "cli/commands/evaluate_comet.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "heed/base/error.h"
#include "heed/base/text_lines.h"
#include "heed/comet.h"

namespace heed::cli {
namespace {

struct CometArguments {
  CommonOptions common;
  std::string model, source, reference;
  bool json = false;
};

std::vector<CometSegment> read_segments(const CometArguments& arguments) {
  std::vector<CometSegment> segments;
  TextLines input;
  for (std::string line; input.next(line);) segments.push_back({{}, line, {}});
  require(!segments.empty(), "standard input is empty, expected translations");
  const auto add = [&](const std::string& file, std::string CometSegment::*text) {
    if (file.empty()) return;
    const std::vector<std::string> lines = read_lines(file);
    require(lines.size() == segments.size(), "standard input has {} lines, {} has {}",
            segments.size(), file, lines.size());
    for (size_t i = 0; i < lines.size(); ++i) segments[i].*text = lines[i];
  };
  add(arguments.source, &CometSegment::source);
  add(arguments.reference, &CometSegment::reference);
  return segments;
}

int run_evaluate_comet(const CometArguments& arguments) {
  const Threads threads(arguments.common);
  const CometModel model =
      CometModel::load(arguments.model, {.hub = {}, .executor = threads.executor()});
  if (model.needs_reference() && arguments.reference.empty())
    throw UsageError("this model compares with references: give them with --reference");
  const std::vector<double> scores =
      model.score(read_segments(arguments), !arguments.reference.empty());
  const double mean =
      std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  if (arguments.json)
    std::cout << json_line({{"metric", "comet"}, {"score", mean}, {"segments", scores}});
  else
    std::cout << fmt::format("COMET = {:.4f}\n", mean);
  flush_output();
  return 0;
}

}  // namespace

void add_evaluate_comet(Command& evaluate) {
  Command command = evaluate.add_subcommand(
      "comet", "COMET: what a model of unbabel-comet says of the translations on standard input");
  auto arguments = std::make_shared<CometArguments>();
  command
      .add_option("model,--model", arguments->model,
                  "Directory of the model: hparams.yaml and checkpoints/model.ckpt")
      .required();
  command
      .add_option("--source", arguments->source,
                  "File of the texts that were translated, one per line")
      .required();
  command.add_option("--reference", arguments->reference,
                     "File of reference translations, one per line, for models that read them");
  command.add_flag("--json", arguments->json,
                   "Print one JSON object, with the score of each line as well");
  add_threads_option(command, arguments->common);
  command.footer(
      "The encoder's config.json and tokenizer are those of the directory, else those of the "
      "model\n"
      "of the hub that hparams.yaml names. Scores equal those of unbabel-comet in f32.\n\n"
      "Example:\n"
      "  heed evaluate comet wmt22-comet-da --source test.en --reference test.es < out.es");
  command.set_action([arguments] { return run_evaluate_comet(*arguments); });
}

}  // namespace heed::cli
