#include "heed/base/error.h"
#include "heed/train/trainer.h"

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "heed/base/file.h"
#include "heed/base/signals.h"
#include "heed/inspect/run_report.h"
#include "heed/train/config.h"
#include "heed/train/initial_weights.h"

namespace heed::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct TrainOptions {
  CommonOptions common;
  std::string config_file, preset, out;
  std::string task, from;
  std::string source, target, tsv, valid_source, valid_target, text, valid_text;
  std::vector<std::string> assignments;
  double minutes = 0;
  bool resume = false, dump_config = false;
};

void log_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

void read_config_file(train::TrainConfig& config, const std::filesystem::path& file) {
  train::read_toml(config, read_file(file), file.string());
}

/// The files of the command line, made absolute so that the saved configuration works anywhere.
void set_path(std::string& key, const std::string& path) {
  if (!path.empty()) key = std::filesystem::absolute(path).lexically_normal().string();
}

void read_command_line(train::TrainConfig& config, const TrainOptions& options,
                       const Command& command) {
  if (!options.config_file.empty()) read_config_file(config, options.config_file);
  if (!options.task.empty()) train::set_field(config, "run.task=" + options.task);
  for (const std::string& assignment : options.assignments) train::set_field(config, assignment);
  set_path(config.data.source, options.source);
  set_path(config.data.target, options.target);
  set_path(config.data.tsv, options.tsv);
  set_path(config.data.valid_source, options.valid_source);
  set_path(config.data.valid_target, options.valid_target);
  set_path(config.data.text, options.text);
  set_path(config.data.valid_text, options.valid_text);
  set_path(config.from, options.from);
  if (command.count("--minutes")) config.run.minutes = options.minutes;
  if (command.count("--seed")) config.run.seed = options.common.seed;
}

int64_t count_lines(const std::string& path) {
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

/// The size that suits the amount of parallel text.
std::string fitting_size(const TrainOptions& options) {
  const std::string& text = options.tsv.empty() ? options.source : options.tsv;
  if (text.empty() || !options.config_file.empty()) return "small";
  const int64_t lines = count_lines(text);
  const std::string name = lines < 5000 ? "tiny" : lines < 500000 ? "small" : "base";
  log_line(fmt::format("preset: {}, which suits {} pairs (--preset chooses another)", name, lines));
  return name;
}

/// The preset for those who name none.
std::string fitting_preset(const TrainOptions& options, const Command& command) {
  train::TrainConfig asked;
  read_command_line(asked, options, command);
  if (!asked.from.empty()) return "fine-tune";
  switch (asked.run.task) {
    case train::TaskKind::causal_lm:
      return "llama-tiny";
    case train::TaskKind::masked_lm:
      return "bert-tiny";
    case train::TaskKind::text_to_text:
      return "t5-tiny";
    case train::TaskKind::translation:
      break;
  }
  return fitting_size(options);
}

train::TrainConfig fresh_config(const TrainOptions& options, const Command& command) {
  train::TrainConfig config;
  const std::string preset =
      options.preset.empty() ? fitting_preset(options, command) : options.preset;
  train::read_toml(config, train::preset(preset), preset + ".toml");
  read_command_line(config, options, command);
  if (config.from.empty()) return config;
  train::read_initial_config(config);
  // What is asked for goes before what the checkpoint has.
  read_command_line(config, options, command);
  return config;
}

/// The configuration of the run that is resumed; what the command line says must agree with it, but
/// for where a run ends and what it reports.
train::TrainConfig resumed_config(const TrainOptions& options, const Command& command,
                                  const train::RunDirectory& run) {
  train::TrainConfig saved;
  train::read_toml(saved, read_file(run.config()), run.config().string(),
                   train::FormerKeys::accepted);
  train::TrainConfig asked = saved;
  if (!options.preset.empty())
    train::read_toml(asked, train::preset(options.preset), options.preset + ".toml");
  read_command_line(asked, options, command);
  train::require_same_run(saved, asked, run.config().string());
  return asked;
}

/// A configuration that has been checked, and the directory that is the run's from now on.
struct Prepared {
  train::TrainConfig config;
  train::RunDirectory run;
};

Prepared begin_run(const TrainOptions& options, const Command& command) {
  const train::TrainConfig config = fresh_config(options, command);
  config.validate();
  train::check_initial_weights(config);
  return {config, train::RunDirectory::begin(options.out)};
}

Prepared resume_run(const TrainOptions& options, const Command& command) {
  const auto run = train::RunDirectory::resume(options.out);
  const train::TrainConfig config = resumed_config(options, command, run);
  config.validate();
  return {config, run};
}

void write_report(const train::Trainer& trainer, const train::RunDirectory& run) {
  write_file_atomically(run.report(), inspect::training_report(inspect::report_of(trainer)));
}

int dump_config(const TrainOptions& options, const Command& command) {
  const train::TrainConfig config = fresh_config(options, command);
  config.validate();
  std::fputs(train::write_toml(config).c_str(), stdout);
  return 0;
}

int run_training(const TrainOptions& options, const Command& command) {
  const auto started = Clock::now();
  apply(options.common);
  if (options.dump_config) return dump_config(options, command);
  require(!options.out.empty(), "--out is missing: where should the model go?");
  const auto [config, run] =
      options.resume ? resume_run(options, command) : begin_run(options, command);
  log_line("configuration:\n" + train::write_toml(config));

  const StopRequest stop;
  const std::unique_ptr<train::Task> task =
      train::prepare_task(config, run.resumed() ? run.last().string() : config.from, log_line);
  const auto report = [directory = run](const train::Trainer& t) { write_report(t, directory); };
  train::Trainer trainer(config, *task, run,
                         {.stop_requested = [&stop] { return stop.requested(); },
                          .after_validation = report,
                          .started = started});
  if (trainer.run() == train::Trainer::Outcome::finished) {
    log_line("model:  " + run.root().string());
    report(trainer);
    log_line("report: " + run.report().string());
  }
  return 0;
}

}  // namespace

void add_train(Command& program) {
  Command command = program.add_subcommand("train", "Trains a Transformer, or fine-tunes one");
  auto options = std::make_shared<TrainOptions>();
  command.add_option("config", options->config_file,
                     "TOML file with anything that differs from the preset");
  command
      .add_option("--task", options->task,
                  "translation (default), text-to-text, causal-lm or masked-lm")
      .one_of({"translation", "text-to-text", "causal-lm", "masked-lm"});
  command.add_option("--from", options->from,
                     "Model directory to fine-tune: its weights, tokenizer and configuration");
  command.add_option(
      "--text", options->text,
      "Text of a language model (causal-lm, masked-lm): a file or a folder of files");
  command.add_option("--valid-text", options->valid_text,
                     "Its validation text (default: a part of the text is set aside)");
  command.add_option("--source", options->source, "Source text, one sentence a line");
  command.add_option("--target", options->target, "Its translation, line by line");
  command.add_option("--tsv", options->tsv, "Or one file: source, tab, target");
  command.add_option("--valid-source", options->valid_source,
                     "Validation text (default: a part of the training text is set aside)");
  command.add_option("--valid-target", options->valid_target, "Its translation");
  command.add_option("--out", options->out, "Directory of the model and everything about the run");
  command
      .add_option("--preset", options->preset,
                  "Sizes and recipe to start from (default: by the task and the amount of text)")
      .one_of(train::preset_names());
  command.add_option("--set", options->assignments,
                     "section.key=value, as in the TOML file; may be repeated");
  command.add_option("--minutes", options->minutes, "Plan the run for this many minutes")
      .positive();
  command.add_flag("--resume", options->resume, "Go on with the run in --out where it stopped");
  command.add_flag("--dump-config", options->dump_config,
                   "Print the whole configuration as TOML and stop");
  add_common_options(command, options->common);
  command.footer(
      "Example:\n"
      "  heed train --source train.en --target train.es --out model\n"
      "  heed train --source train.en --target train.es --out model --preset base --minutes 60\n"
      "  heed train --task causal-lm --text books/ --out model\n"
      "  heed train --task causal-lm --text notes.txt --from Llama-3.2-1B --out model\n"
      "--out must be new or empty; one run at a time trains there.\n"
      "Ctrl-C saves and stops; the same command with --resume goes on, to the same bits.");
  command.set_action([command, options] { return run_training(*options, command); });
}

}  // namespace heed::cli
