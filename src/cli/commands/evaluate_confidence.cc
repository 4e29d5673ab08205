#include "cli/commands/evaluate_confidence.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/confidence.h"
#include "heed/generate/generate_options.h"

namespace heed::cli {
namespace {

struct ConfidenceEvaluation {
  CommonOptions common;
  ModelOptions model;
  TranslateOptions translate;
  std::string source, reference;
  bool calibrate = false, json = false;
};

nlohmann::ordered_json json_of(const ConfidenceReport& report) {
  return {{"sentences", report.sentences},
          {"words", report.words},
          {"kept_words", report.kept_words},
          {"kept_sentences", report.kept_sentences},
          {"word_error", report.word_error},
          {"sentence_error", report.sentence_error},
          {"uncalibrated_word_error", report.uncalibrated_word_error},
          {"uncalibrated_sentence_error", report.uncalibrated_sentence_error}};
}

std::string text_of(const ConfidenceReport& report) {
  return fmt::format(
      "{} words in {} sentences, of which the references keep {:.1f}%\n"
      "expected calibration error of words:     {:.4f} (before calibration {:.4f})\n"
      "expected calibration error of sentences: {:.4f} (before calibration {:.4f})\n",
      report.words, report.sentences, 100 * report.kept_words, report.word_error,
      report.uncalibrated_word_error, report.sentence_error, report.uncalibrated_sentence_error);
}

int run_evaluate_confidence(ConfidenceEvaluation& arguments) {
  const Threads threads(arguments.common);
  check(arguments.translate.search);
  const std::vector<std::string> sources = read_lines(arguments.source);
  const std::vector<std::string> references = read_lines(arguments.reference);
  require(sources.size() == references.size(), "{} has {} lines, {} has {}", arguments.source,
          sources.size(), arguments.reference, references.size());
  const Model model = load_model(arguments.model, threads, &ModelTasks::translate);
  const auto call = arguments.calibrate ? calibrate_confidence : evaluate_confidence;
  const ConfidenceReport report = call(model, sources, references, arguments.translate);
  std::cout << (arguments.json ? json_line(json_of(report)) : text_of(report));
  flush_output();
  return 0;
}

}  // namespace

void add_evaluate_confidence(Command& evaluate) {
  using generate::SearchOption;
  Command command = evaluate.add_subcommand(
      "confidence", "How well a translator's confidences hold on held-out text, or --calibrate");
  auto arguments = std::make_shared<ConfidenceEvaluation>();
  add_model_options(command, arguments->model);
  command.add_option("--source", arguments->source, "File of held-out texts, one per line")
      .required();
  command.add_option("--reference", arguments->reference, "File of their translations by people")
      .required();
  command.add_flag("--calibrate", arguments->calibrate,
                   "Calibrate with this text and write confidence.json into the model directory; "
                   "the errors printed are of fifths that were left out");
  add_language_options(command, arguments->translate.source_language,
                       arguments->translate.target_language);
  add_declared_option(command, generate::TranslateOption::via, arguments->translate);
  SearchOptions& search = arguments->translate.search;
  add_declared_option(command, SearchOption::num_beams, search).show_default();
  add_declared_option(command, SearchOption::length_penalty, search).show_default();
  command.add_flag("--json", arguments->json, "Print one JSON object");
  add_threads_option(command, arguments->common);
  command.footer(
      "The confidence of a word is the probability that a person who corrects the translation "
      "keeps\n"
      "it: that the edit alignment to a reference does. That of a sentence is the share of its "
      "words\n"
      "that are kept.\n\n"
      "Examples:\n"
      "  heed evaluate confidence model --source dev.en --reference dev.es --calibrate\n"
      "  heed evaluate confidence model --source test.en --reference test.es\n"
      "  heed translate model --confidence --json < in.txt");
  command.set_action([arguments] { return run_evaluate_confidence(*arguments); });
}

}  // namespace heed::cli
