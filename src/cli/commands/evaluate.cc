#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/evaluate_comet.h"
#include "cli/commands/evaluate_confidence.h"
#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "heed/base/error.h"
#include "heed/base/text_lines.h"
#include "heed/metrics.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;
using Test = SignificanceOptions::Test;
using TextFile = std::vector<std::string>;

struct EvaluateOptions {
  CommonOptions common;
  MetricChoice metric;
  std::vector<std::string> references, inputs;
  std::string baseline;
  bool confidence = false, paired_bs = false, paired_ar = false;
  int64_t confidence_n = 1000, paired_bs_n = 1000, paired_ar_n = 10000;
  bool json = false;
};

/// Translations with the name of where they are from.
struct NamedSystem {
  std::string name;
  TextFile lines;
};

constexpr const char* kStandardInput = "standard input";

TextFile read_translations() {
  TextFile lines;
  TextLines input;
  for (std::string line; input.next(line);) lines.push_back(line);
  return lines;
}

/// The baseline first, if there is one.
std::vector<NamedSystem> read_systems(const EvaluateOptions& options) {
  std::vector<std::string> names = options.inputs;
  if (!options.baseline.empty()) {
    std::erase(names, options.baseline);
    names.insert(names.begin(), options.baseline);
  }
  std::vector<NamedSystem> systems;
  for (const std::string& name : names) systems.push_back({name, read_lines(name)});
  if (options.inputs.empty()) systems.push_back({kStandardInput, read_translations()});
  return systems;
}

std::vector<TextFile> read_references(const std::vector<std::string>& names,
                                      const std::vector<NamedSystem>& systems) {
  std::vector<TextFile> references;
  for (const std::string& name : names) {
    references.push_back(read_lines(name));
    for (const NamedSystem& system : systems)
      require(system.lines.size() == references.back().size(), "{} has {} lines, {} has {}",
              system.name, system.lines.size(), name, references.back().size());
  }
  return references;
}

SignificanceOptions test_of(const EvaluateOptions& options) {
  SignificanceOptions test;
  if (options.confidence) {
    test.test = Test::confidence;
    test.trials = options.confidence_n;
  } else if (options.paired_bs) {
    test.test = Test::paired_bootstrap;
    test.trials = options.paired_bs_n;
  } else if (options.paired_ar) {
    test.test = Test::paired_approximate_randomization;
    test.trials = options.paired_ar_n;
  }
  return test;
}

Json json_of(const SystemScore& system) {
  Json facts = {{"score", system.score}};
  if (system.interval) {
    facts["mean"] = system.interval->mean;
    facts["ci"] = system.interval->half_width;
  }
  if (system.p_value) facts["p_value"] = *system.p_value;
  return facts;
}

constexpr const char* metric_name(MetricChoice::Metric metric) {
  constexpr const char* kNames[] = {"bleu", "chrf", "ter"};
  return kNames[static_cast<size_t>(metric)];
}

std::string json_of(const EvaluateOptions& options, const std::vector<NamedSystem>& systems,
                    const SystemScores& scores) {
  Json facts = {{"metric", metric_name(options.metric.metric)}};
  if (systems.size() == 1) {
    facts.update(json_of(scores.systems.front()));
    facts["text"] = scores.systems.front().text;
  } else {
    for (size_t s = 0; s < systems.size(); ++s) {
      Json system = {{"system", systems[s].name}};
      system.update(json_of(scores.systems[s]));
      facts["systems"].push_back(system);
    }
  }
  facts["signature"] = scores.signature;
  return json_line(facts);
}

/// A line for each of several systems, in the notation of sacrebleu's table.
std::string table_of(const std::vector<NamedSystem>& systems, const SystemScores& scores,
                     bool has_baseline) {
  std::vector<std::string> names;
  for (const NamedSystem& system : systems) names.push_back(system.name);
  if (has_baseline) names.front() = "Baseline: " + names.front();
  const size_t width = std::ranges::max(names, {}, &std::string::size).size();
  std::string table;
  for (size_t s = 0; s < systems.size(); ++s) {
    const SystemScore& system = scores.systems[s];
    table += fmt::format("{:<{}}  {} = {:.2f}", names[s], width, scores.name, system.score);
    if (system.interval)
      table +=
          fmt::format(" ({:.2f} ± {:.2f})", system.interval->mean, system.interval->half_width);
    if (system.p_value)
      table += fmt::format(" (p = {:.4f}){}", *system.p_value, *system.p_value > 0.05 ? "" : "*");
    table += '\n';
  }
  return table;
}

int run_evaluate(const EvaluateOptions& options) {
  if (!options.baseline.empty() && !options.paired_bs && !options.paired_ar)
    throw UsageError("--baseline is for --paired-bs or --paired-ar");
  const Threads threads(options.common);
  const std::vector<NamedSystem> systems = read_systems(options);
  const std::vector<TextFile> references = read_references(options.references, systems);
  std::vector<TextFile> translations;
  for (const NamedSystem& system : systems) translations.push_back(system.lines);
  const SystemScores scores =
      score_systems(options.metric, translations, references, test_of(options));
  if (options.json)
    std::cout << json_of(options, systems, scores);
  else if (systems.size() == 1)
    std::cout << scores.systems.front().text << '\n' << scores.signature << '\n';
  else
    std::cout << table_of(systems, scores, !options.baseline.empty()) << scores.signature << '\n';
  flush_output();
  return 0;
}

/// Options that several metrics have, with the names of sacrebleu.
void add_significance_options(Command& command, EvaluateOptions& options) {
  const OptionGroup group(command, "Significance");
  const int64_t most = SignificanceOptions::kMaxTrials;
  Option confidence = command.add_flag(
      "--confidence", options.confidence,
      "Print the mean and the 95% interval of the score over bootstrap resamples of the lines");
  command.add_option("--confidence-n", options.confidence_n, "Resamples of --confidence")
      .range(int64_t{1}, most)
      .show_default()
      .needs(confidence);
  Option baseline = command
                        .add_option("--baseline", options.baseline,
                                    "File of translations with which the others are compared")
                        .existing_file();
  Option bootstrap = command
                         .add_flag("--paired-bs", options.paired_bs,
                                   "Compare with the baseline by paired bootstrap resampling")
                         .needs(baseline)
                         .excludes(confidence);
  command.add_option("--paired-bs-n", options.paired_bs_n, "Resamples of --paired-bs")
      .range(int64_t{1}, most)
      .show_default()
      .needs(bootstrap);
  Option randomization =
      command
          .add_flag("--paired-ar", options.paired_ar,
                    "Compare with the baseline by paired approximate randomisation")
          .needs(baseline)
          .excludes(confidence)
          .excludes(bootstrap);
  command.add_option("--paired-ar-n", options.paired_ar_n, "Trials of --paired-ar")
      .range(int64_t{1}, most)
      .show_default()
      .needs(randomization);
}

/// A subcommand for a metric, whose own options add_own() adds.
template <typename AddOwn>
void add_metric(Command& evaluate, MetricChoice::Metric metric, const std::string& help,
                const AddOwn& add_own) {
  Command command = evaluate.add_subcommand(metric_name(metric), help);
  auto options = std::make_shared<EvaluateOptions>();
  options->metric.metric = metric;
  command
      .add_option("--reference", options->references,
                  "File of reference translations, one per line; several files are several "
                  "references of each line")
      .required();
  command.add_option("--input", options->inputs,
                     "File of translations, one per line, in place of standard input; several "
                     "files are several systems");
  add_own(command, *options);
  command.add_flag("--json", options->json, "Print one JSON object");
  add_significance_options(command, *options);
  add_threads_option(command, options->common);
  command.footer(
      fmt::format("Example:\n"
                  "  heed translate --model model < test.en | heed evaluate {} "
                  "--reference test.es\n"
                  "Scores, intervals and p-values equal those of sacrebleu.",
                  metric_name(metric)));
  command.set_action([options] { return run_evaluate(*options); });
}

void add_ter_options(Command& command, EvaluateOptions& options) {
  TerOptions& ter = options.metric.ter;
  command.add_flag("--normalized", ter.normalized,
                   "Separate punctuation from words, and decode &quot; &amp; &lt; &gt;");
  command.add_flag("--no-punct", ter.no_punct, "Remove . , ? : ; ! \" ( and )");
  command.add_flag("--asian-support", ter.asian_support,
                   "With --normalized, make a word of each Chinese character and mark; with "
                   "--no-punct, remove these marks");
  command.add_flag("--case-sensitive", ter.case_sensitive, "Do not make letters lower case");
}

}  // namespace

void add_evaluate(Command& program) {
  Command command =
      program.add_subcommand("evaluate", "Scores translations: BLEU, chrF, TER, COMET, confidence");
  command.require_subcommand();
  using Metric = MetricChoice::Metric;
  add_metric(command, Metric::bleu, "BLEU: words and groups of up to four",
             [](Command&, EvaluateOptions&) {});
  add_metric(command, Metric::chrf, "chrF: groups of up to six letters; chrF++: words as well",
             [](Command& chrf, EvaluateOptions& options) {
               chrf.add_option("--word-order", options.metric.chrf.word_order,
                               "Longest groups of words: 0 is chrF, 2 is chrF++")
                   .range(0, ChrfOptions::kMaxWordOrder)
                   .show_default();
             });
  add_metric(command, Metric::ter, "TER: edits and shifts of words; lower is better",
             add_ter_options);
  add_evaluate_comet(command);
  add_evaluate_confidence(command);
}

}  // namespace heed::cli
