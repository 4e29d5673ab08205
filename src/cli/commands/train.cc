#include "heed/train.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/ranks.h"
#include "cli/terminal/download_line.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "heed/base/file.h"
#include "heed/base/parse_number.h"

namespace heed::cli {
namespace {

struct TrainArguments {
  CommonOptions common;
  std::string config_file, preset, out;
  std::string task, from;
  std::string source, target, tsv, alignments, valid_source, valid_target, text, valid_text;
  std::string source_language, target_language, languages;
  std::vector<std::vector<std::string>> corpora, valid_corpora;  // see corpora_of()
  std::vector<std::string> assignments;
  double minutes = 0;
  bool lora = false, resume = false, dump_config = false, json = false;
};

/// A path of the command line becomes absolute, so that the saved configuration works from any
/// directory. It is also never a value of TOML, so that an assignment takes it as it is.
std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

/// A model to start from: OWNER/NAME of the hub, or a path.
std::string model_name(const std::string& from) {
  return path_exists(from) || from.find('/') == from.npos ? absolute_path(from) : from;
}

/// A string of TOML.
std::string toml_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Corpora as a value of TOML. Each is SOURCE TARGET, then WEIGHT if there is one, and
/// SOURCE_LANGUAGE TARGET_LANGUAGE.
std::string corpora_of(const char* option, const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> tables;
  const auto refuse = [&](const std::string& problem) {
    throw UsageError(fmt::format(
        "{}: {} (SOURCE TARGET [WEIGHT] [SOURCE_LANGUAGE TARGET_LANGUAGE])", option, problem));
  };
  for (const std::vector<std::string>& list : lists) {
    if (list.size() == 4 && parse_number<double>(list[2]))
      refuse(fmt::format("the source language is {}, which is a number", list[2]));
    std::string table = fmt::format("source = {}, target = {}", toml_string(absolute_path(list[0])),
                                    toml_string(absolute_path(list[1])));
    if (list.size() % 2 == 1) {
      const double weight = parse_number<double>(list[2]).value_or(0);
      if (weight <= 0) refuse(fmt::format("the weight is {}, expected a number above 0", list[2]));
      table += fmt::format(", weight = {}", weight);
    }
    if (list.size() >= 4)
      table += fmt::format(", source_language = {}, target_language = {}",
                           toml_string(list[list.size() - 2]), toml_string(list.back()));
    tables.push_back("{" + table + "}");
  }
  return fmt::format("[{}]", fmt::join(tables, ", "));
}

/// The settings of the command line. Later ones override earlier ones.
std::vector<std::string> assignments_of(const TrainArguments& arguments, const Command& command) {
  std::vector<std::string> all;
  const auto assign = [&all](const char* key, const std::string& value) {
    if (!value.empty()) all.push_back(fmt::format("{}={}", key, value));
  };
  const auto assign_path = [&assign](const char* key, const std::string& path) {
    if (!path.empty()) assign(key, absolute_path(path));
  };
  assign("run.task", arguments.task);
  if (arguments.lora) assign("lora.enabled", "true");
  all.insert(all.end(), arguments.assignments.begin(), arguments.assignments.end());
  assign_path("data.source", arguments.source);
  assign_path("data.target", arguments.target);
  assign_path("data.tsv", arguments.tsv);
  assign_path("data.alignments", arguments.alignments);
  if (!arguments.corpora.empty()) assign("data.corpora", corpora_of("--data", arguments.corpora));
  if (!arguments.valid_corpora.empty())
    assign("data.valid_corpora", corpora_of("--valid-data", arguments.valid_corpora));
  for (const auto& [key, code] : {std::pair{"data.source_language", &arguments.source_language},
                                  {"data.target_language", &arguments.target_language}})
    if (!code->empty()) assign(key, toml_string(*code));
  assign("data.languages", arguments.languages);
  assign_path("data.valid_source", arguments.valid_source);
  assign_path("data.valid_target", arguments.valid_target);
  assign_path("data.text", arguments.text);
  assign_path("data.valid_text", arguments.valid_text);
  if (!arguments.from.empty()) assign("model.from", model_name(arguments.from));
  if (command.count("--minutes")) assign("run.minutes", fmt::format("{}", arguments.minutes));
  if (command.count("--seed")) assign("run.seed", fmt::format("{}", arguments.common.seed));
  return all;
}

/// Everything but where models of the hub are found.
TrainOptions options_of(const TrainArguments& arguments, const Command& command) {
  TrainOptions options{.out = arguments.out,
                       .preset = arguments.preset,
                       .assignments = assignments_of(arguments, command),
                       .resume = arguments.resume};
  if (!arguments.config_file.empty()) {
    options.config = read_file(arguments.config_file);
    options.config_name = arguments.config_file;
  }
  return options;
}

nlohmann::ordered_json json_of(const StepRecord& record, int64_t planned_steps,
                               double seconds_left) {
  return {{"event", "step"},
          {"step", record.step},
          {"epoch", record.epoch},
          {"seconds", record.seconds},
          {"loss", record.loss},
          {"gradient_norm", record.gradient_norm},
          {"learning_rate", record.learning_rate},
          {"tokens_per_second", record.tokens_per_second},
          {"skipped", record.skipped},
          {"planned_steps", planned_steps},
          {"seconds_left", seconds_left}};
}

nlohmann::ordered_json json_of(const ValidationRecord& record) {
  nlohmann::ordered_json json = {{"event", "validation"},           {"step", record.step},
                                 {"epoch", record.epoch},           {"seconds", record.seconds},
                                 {"train_loss", record.train_loss}, {"loss", record.loss},
                                 {"perplexity", record.perplexity}};
  if (record.bleu) json["bleu"] = *record.bleu;
  if (record.chrf) json["chrf"] = *record.chrf;
  for (const DirectionScores& one : record.directions)
    json["directions"].push_back(
        {{"languages", one.languages}, {"bleu", one.bleu}, {"chrf", one.chrf}});
  for (const auto& [name, value] : record.metrics) json["metrics"][name] = value;
  if (!record.best_by.empty()) json["best_by"] = record.best_by;
  json["best"] = record.best;
  return json;
}

/// What --json prints instead of the progress: a line for each step and each validation.
TrainCallbacks json_callbacks() {
  const auto print = [](const nlohmann::ordered_json& line) {
    std::cout << json_line(line);
    flush_output();
  };
  return {.on_step =
              [print](const StepRecord& record, int64_t planned_steps, double seconds_left) {
                print(json_of(record, planned_steps, seconds_left));
              },
          .on_validation = [print](const ValidationRecord& record) { print(json_of(record)); }};
}

TrainCallbacks progress_callbacks(Progress& progress) {
  return {
      .on_log = [&](std::string_view line) { progress.log(line); },
      .on_step = [&](const StepRecord& record, int64_t planned_steps,
                     double seconds_left) { progress.step(record, planned_steps, seconds_left); }};
}

int run_training(const TrainArguments& arguments, const Command& command) {
  if (arguments.out.empty() && !arguments.dump_config) throw UsageError("--out is required");
  const Threads threads(arguments.common);
  const StopRequest stop;
  const auto stop_requested = [&stop] { return stop.requested(); };
  DownloadLine download;
  TrainOptions options = options_of(arguments, command);
  options.executor = threads.executor();
  options.hub.on_progress = [&](const DownloadProgress& progress) { download.show(progress); };
  options.hub.cancelled = stop_requested;
  options.distributed = true;
  if (arguments.dump_config) {
    const std::string config = training_config(options);
    if (prints_for_all()) std::fputs(config.c_str(), stdout);
    return 0;
  }
  Progress progress;
  leave_ranks_to_library();
  TrainCallbacks callbacks = arguments.json ? json_callbacks() : progress_callbacks(progress);
  callbacks.stop_requested = stop_requested;
  const TrainResult result = train_model(options, callbacks);
  if (result.rank > 0) return 0;
  if (arguments.json) {
    std::cout << json_line({{"event", "end"},
                            {"finished", result.finished},
                            {"model", result.model.string()},
                            {"report", result.report.string()}});
  } else if (result.finished) {
    progress.log("model:  " + result.model.string());
    progress.log("report: " + result.report.string());
  }
  return 0;
}

/// Adds the options that name the text, and its languages.
void add_text_options(Command& command, TrainArguments& options) {
  command.add_option("--text", options.text,
                     "Training text for causal-lm and masked-lm: a file or a folder of files; for "
                     "chat: JSON lines with lists of messages; for preference: JSON lines with "
                     "\"prompt\", \"chosen\" and \"rejected\"; JSON lines, or columns of a .tsv "
                     "file, for classify: \"text\" and \"label\" or \"labels\", for score: "
                     "\"text\" and \"score\" (both also with \"text_pair\"), for rerank: "
                     "\"query\", \"document\" and \"label\", for tag: \"text\" and \"spans\", "
                     "for embed: \"query\", \"document\" and perhaps \"negatives\"");
  command.add_option("--valid-text", options.valid_text,
                     "Validation text for --text (default: part of the training text is held out)");
  command.add_option("--source", options.source,
                     "Source sentences, one per line, for translation and text-to-text");
  command.add_option("--target", options.target,
                     "Target sentences: line i is the target of line i of --source");
  command.add_option(
      "--tsv", options.tsv,
      "Sentence pairs in one file instead of --source and --target: source, tab, target");
  command.add_option("--alignments", options.alignments,
                     "Links of words for each pair, as 0-0 1-2 (heed translate --alignments, "
                     "fast_align), which one head learns");
  command.add_lists(
      "--data", options.corpora, 2, 5,
      "One of several corpora in place of --source and --target (repeatable): SOURCE TARGET "
      "[WEIGHT] [SOURCE_LANGUAGE TARGET_LANGUAGE]; pairs are drawn in proportion to the weights, "
      "or "
      "by size (data.temperature)");
  command.add_lists(
      "--valid-data", options.valid_corpora, 2, 4,
      "One of several corpora for validation (repeatable): SOURCE TARGET [SOURCE_LANGUAGE "
      "TARGET_LANGUAGE]");
  command
      .add_option("--languages", options.languages,
                  "Train one model for several languages: a source begins with the token of the "
                  "language to translate into, or with both languages' tokens")
      .one_of({"none", "target", "both"});
  command.add_option("--source-language", options.source_language,
                     "Language of --source (default: the file's extension), for --languages and "
                     "for models of --from with languages");
  command.add_option("--target-language", options.target_language, "Language of --target");
  command.add_option(
      "--valid-source", options.valid_source,
      "Source sentences for validation (default: part of the training pairs is held out)");
  command.add_option("--valid-target", options.valid_target, "Target sentences for validation");
}

}  // namespace

void add_train(Command& program) {
  Command command = program.add_subcommand("train", "Trains or fine-tunes a model");
  auto options = std::make_shared<TrainArguments>();
  command.add_option("config", options->config_file,
                     "TOML file with settings that override the preset");
  command.add_option("--task", options->task, "Training task (default: translation)")
      .one_of({"translation", "text-to-text", "causal-lm", "masked-lm", "chat", "preference",
               "classify", "score", "rerank", "tag", "embed"});
  command.add_option(
      "--from", options->from,
      "Model directory, or OWNER/NAME[@REVISION] of the Hugging Face hub, to fine-tune; "
      "provides configuration, weights and tokenizer");
  command.add_flag("--lora", options->lora,
                   "Train a LoRA adapter of --from, whose weights may be quantised (a GGUF file), "
                   "instead of the weights; --out becomes an adapter as Python's peft reads it");
  add_text_options(command, *options);
  command.add_option(
      "--out", options->out,
      "Directory for the model, checkpoints and report; required except with --dump-config");
  command
      .add_option("--preset", options->preset,
                  "Preset configuration (default: chosen by the task and the amount of text)")
      .one_of(training_presets());
  command.add_option("--set", options->assignments,
                     "section.key=value: override one setting of the configuration (repeatable)");
  command
      .add_option("--minutes", options->minutes, "Plan the training schedule for this many minutes")
      .positive();
  command.add_flag("--resume", options->resume,
                   "Continue the run in --out from its last checkpoint");
  command.add_flag("--dump-config", options->dump_config,
                   "Print the whole configuration as TOML and exit");
  command.add_flag(
      "--json", options->json,
      "Print one JSON object for each step, each validation and the end instead of the "
      "progress");
  add_seed_option(command, options->common);
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed train --source train.en --target train.es --out model\n"
      "  heed train --source train.en --target train.es --out model --preset base --minutes 60\n"
      "  heed train --data a.en a.de 3 --data b.en b.fr 1 --languages target --out model\n"
      "  heed train --task causal-lm --text books/ --out model\n"
      "  heed train --task causal-lm --text notes.txt --from Llama-3.2-1B --out model\n"
      "  heed train --task causal-lm --text notes.txt --from Llama-3.2-1B --lora --out adapter\n"
      "--out must be a new or an empty directory, except with --resume.\n"
      "Ctrl-C saves a checkpoint and stops. The same command with --resume continues the run, "
      "with\n"
      "the same results, bit for bit, as without the interruption.");
  command.set_action([command, options] { return run_training(*options, command); },
                     Ranks::several);
}

}  // namespace heed::cli
