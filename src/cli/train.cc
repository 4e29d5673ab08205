#include "heed/base/error.h"
#include "heed/train/trainer.h"

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/find_model.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "heed/base/file.h"
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
  bool lora = false, resume = false, dump_config = false;
};

void log_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

void read_config_file(train::TrainConfig& config, const std::filesystem::path& file) {
  train::read_toml(config, read_file(file), file.string());
}

/// A path of the command line becomes absolute, so that the saved configuration works from any
/// directory.
std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

void set_path(std::string& key, const std::string& path) {
  if (!path.empty()) key = absolute_path(path);
}

void read_command_line(train::TrainConfig& config, const TrainOptions& options,
                       const Command& command) {
  const std::string former = config.from;
  if (!options.config_file.empty()) read_config_file(config, options.config_file);
  if (!options.task.empty()) train::set_field(config, "run.task=" + options.task);
  if (options.lora) config.lora.enabled = true;
  for (const std::string& assignment : options.assignments) train::set_field(config, assignment);
  set_path(config.data.source, options.source);
  set_path(config.data.target, options.target);
  set_path(config.data.tsv, options.tsv);
  set_path(config.data.valid_source, options.valid_source);
  set_path(config.data.valid_target, options.valid_target);
  set_path(config.data.text, options.text);
  set_path(config.data.valid_text, options.valid_text);
  if (!options.from.empty()) config.from = options.from;
  // A model of the hub becomes its directory, which the configuration of a run keeps.
  if (config.from != former) config.from = find_model(config.from);
  if (!options.from.empty()) config.from = absolute_path(config.from);
  if (command.count("--minutes")) config.run.minutes = options.minutes;
  if (command.count("--seed")) config.run.seed = options.common.seed;
}

int64_t count_lines(const std::string& path) {
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

/// The preset for translation by the amount of parallel text.
std::string preset_for_size(const TrainOptions& options) {
  const std::string& text = options.tsv.empty() ? options.source : options.tsv;
  if (text.empty() || !options.config_file.empty()) return "small";
  const int64_t lines = count_lines(text);
  const std::string name = lines < 5000 ? "tiny" : lines < 500000 ? "small" : "base";
  log_line(fmt::format("preset: {}, chosen for {} pairs (--preset overrides it)", name, lines));
  return name;
}

/// The preset if the command line names none.
std::string default_preset(const TrainOptions& options, const Command& command) {
  train::TrainConfig requested;
  read_command_line(requested, options, command);
  if (!requested.from.empty()) return requested.lora.enabled ? "lora" : "fine-tune";
  switch (requested.run.task) {
    case train::TaskKind::causal_lm:
      return "llama-tiny";
    case train::TaskKind::masked_lm:
      return "bert-tiny";
    case train::TaskKind::text_to_text:
      return "t5-tiny";
    case train::TaskKind::chat:  // these two are refused without --from
    case train::TaskKind::preference:
    case train::TaskKind::translation:
      break;
  }
  return preset_for_size(options);
}

train::TrainConfig fresh_config(const TrainOptions& options, const Command& command) {
  train::TrainConfig config;
  const std::string preset =
      options.preset.empty() ? default_preset(options, command) : options.preset;
  train::read_toml(config, train::preset(preset), preset + ".toml");
  read_command_line(config, options, command);
  if (config.from.empty()) return config;
  train::read_initial_config(config);
  // Again, since the command line overrides the configuration of the checkpoint.
  read_command_line(config, options, command);
  return config;
}

/// The configuration of the resumed run. The command line may change only when the run ends and
/// what it reports.
train::TrainConfig resumed_config(const TrainOptions& options, const Command& command,
                                  const train::RunDirectory& run) {
  train::TrainConfig saved;
  train::read_toml(saved, read_file(run.config()), run.config().string(),
                   train::FormerKeys::accepted);
  train::TrainConfig requested = saved;
  if (!options.preset.empty())
    train::read_toml(requested, train::preset(options.preset), options.preset + ".toml");
  read_command_line(requested, options, command);
  train::require_same_run(saved, requested, run.config().string());
  return requested;
}

/// A valid configuration and the directory of the run, locked by this process.
struct Prepared {
  train::TrainConfig config;
  train::RunDirectory run;
};

Prepared begin_run(const TrainOptions& options, const Command& command) {
  const train::TrainConfig config = fresh_config(options, command);
  config.validate();
  train::check_text_files(config);
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

/// Shows the progress of a run and writes its report after every validation.
class RunObserver : public Progress {
 public:
  explicit RunObserver(const train::RunDirectory& run) : run_(run) {}

  void validation(const train::Trainer& trainer) override { write_report(trainer, run_); }

 private:
  const train::RunDirectory& run_;
};

int dump_config(const TrainOptions& options, const Command& command) {
  const train::TrainConfig config = fresh_config(options, command);
  config.validate();
  std::fputs(train::write_toml(config).c_str(), stdout);
  return 0;
}

int run_training(const TrainOptions& options, const Command& command) {
  const auto started = Clock::now();
  const Threads threads(options.common);
  if (options.dump_config) return dump_config(options, command);
  if (options.out.empty()) throw UsageError("--out is required");
  const auto [config, run] =
      options.resume ? resume_run(options, command) : begin_run(options, command);
  log_line("configuration:\n" + train::write_toml(config));

  const StopRequest stop;
  RunObserver observer(run);
  const std::unique_ptr<train::Task> task =
      train::prepare_task(config, train::vocabulary_source(config, run), observer);
  train::Trainer trainer(
      config, *task, run, observer,
      {.stop_requested = [&stop] { return stop.requested(); }, .started = started});
  if (trainer.run() == train::Trainer::Outcome::finished) {
    log_line("model:  " + run.root().string());
    write_report(trainer, run);
    log_line("report: " + run.report().string());
  }
  return 0;
}

}  // namespace

void add_train(Command& program) {
  Command command = program.add_subcommand("train", "Trains or fine-tunes a model");
  auto options = std::make_shared<TrainOptions>();
  command.add_option("config", options->config_file,
                     "TOML file with settings that override the preset");
  command.add_option("--task", options->task, "Training task (default: translation)")
      .one_of({"translation", "text-to-text", "causal-lm", "masked-lm", "chat", "preference"});
  command.add_option(
      "--from", options->from,
      "Model directory, or OWNER/NAME[@REVISION] of the Hugging Face hub, to fine-tune; "
      "provides configuration, weights and tokenizer");
  command.add_flag("--lora", options->lora,
                   "Train a LoRA adapter of --from, whose weights may be quantised (a GGUF file), "
                   "instead of the weights; --out becomes an adapter as Python's peft reads it");
  command.add_option("--text", options->text,
                     "Training text for causal-lm and masked-lm: a file or a folder of files; for "
                     "chat: JSON lines with lists of messages; for preference: JSON lines with \"prompt\", \"chosen\" and \"rejected\"");
  command.add_option("--valid-text", options->valid_text,
                     "Validation text for --text (default: part of the training text is held out)");
  command.add_option("--source", options->source,
                     "Source sentences, one per line, for translation and text-to-text");
  command.add_option("--target", options->target,
                     "Target sentences: line i is the target of line i of --source");
  command.add_option(
      "--tsv", options->tsv,
      "Sentence pairs in one file instead of --source and --target: source, tab, target");
  command.add_option(
      "--valid-source", options->valid_source,
      "Source sentences for validation (default: part of the training pairs is held out)");
  command.add_option("--valid-target", options->valid_target, "Target sentences for validation");
  command.add_option(
      "--out", options->out,
      "Directory for the model, checkpoints and report; required except with --dump-config");
  command
      .add_option("--preset", options->preset,
                  "Preset configuration (default: chosen by the task and the amount of text)")
      .one_of(train::preset_names());
  command.add_option("--set", options->assignments,
                     "section.key=value: override one setting of the configuration (repeatable)");
  command
      .add_option("--minutes", options->minutes, "Plan the training schedule for this many minutes")
      .positive();
  command.add_flag("--resume", options->resume,
                   "Continue the run in --out from its last checkpoint");
  command.add_flag("--dump-config", options->dump_config,
                   "Print the whole configuration as TOML and exit");
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed train --source train.en --target train.es --out model\n"
      "  heed train --source train.en --target train.es --out model --preset base --minutes 60\n"
      "  heed train --task causal-lm --text books/ --out model\n"
      "  heed train --task causal-lm --text notes.txt --from Llama-3.2-1B --out model\n"
      "  heed train --task causal-lm --text notes.txt --from Llama-3.2-1B --lora --out adapter\n"
      "--out must be a new or an empty directory, except with --resume.\n"
      "Ctrl-C saves a checkpoint and stops. The same command with --resume continues the run, "
      "with\n"
      "the same results, bit for bit, as without the interruption.");
  command.set_action([command, options] { return run_training(*options, command); });
}

}  // namespace heed::cli
