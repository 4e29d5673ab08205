#include "heed/distill.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "heed/base/file.h"

namespace heed::cli {
namespace {

struct DistillArguments {
  CommonOptions common;
  std::string teacher, text, out, test_source, test_target, config_file;
  DistillOptions options;
};

/// A line for each stage.
void print_table(const std::vector<DistillStage>& stages) {
  fmt::print("{:<18} {:>6} {:>6} {:>9} {:>8}\n", "", "BLEU", "chrF", "words/s", "MB");
  for (const auto& [name, bleu, chrf, words_per_second, bytes] : stages)
    fmt::print("{:<18} {:>6.2f} {:>6.2f} {:>9.0f} {:>8.1f}\n", name, bleu, chrf, words_per_second,
               static_cast<double>(bytes) / 1e6);
}

int run_distill(const DistillArguments& arguments) {
  const Threads threads(arguments.common);
  const StopRequest stop;
  DistillOptions options = arguments.options;
  options.teacher = find_model(arguments.teacher);
  options.text = arguments.text;
  options.out = arguments.out;
  options.test_source = arguments.test_source;
  options.test_target = arguments.test_target;
  if (!arguments.config_file.empty()) {
    options.config = read_file(arguments.config_file);
    options.config_name = arguments.config_file;
  }
  options.executor = threads.executor();
  Progress progress;
  const DistillCallbacks callbacks{
      .train = {.on_log = [&](std::string_view line) { progress.log(line); },
                .on_step =
                    [&](const StepRecord& record, int64_t planned_steps, double seconds_left) {
                      progress.step(record, planned_steps, seconds_left);
                    },
                .stop_requested = [&stop] { return stop.requested(); }},
      .on_translated = [&](int64_t lines, int64_t all) {
        progress.log(fmt::format("translated by the teacher: {} of {} lines", lines, all));
      }};
  const DistillResult result = distill_model(options, callbacks);
  if (!result.finished) {
    progress.log("stopped; the same command with --resume continues");
    return 0;
  }
  print_table(result.stages);
  fmt::print("model:     {}\nshortlist: {}\n", result.model.string(), result.shortlist.string());
  return 0;
}

}  // namespace

void add_distill(Command& program) {
  Command command = program.add_subcommand(
      "distill", "Makes a small, fast translator that has learned from a large one");
  auto arguments = std::make_shared<DistillArguments>();
  DistillOptions& options = arguments->options;
  command
      .add_option("--teacher", arguments->teacher,
                  "Translator to learn from: a model directory, "
                  "or OWNER/NAME[@REVISION] of the Hugging Face hub")
      .required();
  command.add_option("--text", arguments->text, "Sentences to translate, one per line")
      .existing_file()
      .required();
  command.add_option("--out", arguments->out, "Directory for the student and the work").required();
  command
      .add_option("--test-source", arguments->test_source,
                  "Sentences on which the models are measured (default: some lines of --text, with "
                  "the teacher's translations as references)")
      .existing_file();
  command.add_option("--test-target", arguments->test_target, "Their translations").existing_file();
  command.add_option("--num-beams", options.num_beams, "Number of beams of the teacher")
      .range(1, 256)
      .show_default();
  add_compute_option(command, options.compute,
                     "Arithmetic of the teacher as it translates --text (see heed translate); int8 "
                     "is more than twice as fast as f32 and loses little");
  command
      .add_option("--drop", options.drop,
                  "Share of translations that are dropped, those with the least score per word")
      .range(0.0, 0.99)
      .show_default();
  command
      .add_option("--max-ratio", options.max_ratio,
                  "Drop pairs if one side has more than this many times the words of the other")
      .range(1.0, 1000.0)
      .show_default();
  command
      .add_option("--minutes", options.minutes,
                  "Train the student for this many minutes, the last fifth of them in int8")
      .positive();
  command.add_option(
      "--config", arguments->config_file,
      "TOML file with settings of the student's training, which override the preset");
  command
      .add_option("--preset", options.preset,
                  "Preset of the student's training (default: chosen by the amount of text)")
      .one_of(training_presets());
  command.add_option("--set", options.assignments,
                     "section.key=value: one setting of the student's training (repeatable)");
  command.add_option("--int8-set", options.int8_assignments,
                     "The same for the last steps, in int8, which begin with the preset fine-tune");
  command.add_flag("--resume", options.resume,
                   "Continue the work in --out, however it was ended, with the same options");
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed distill --teacher big --text mono.en --out student --minutes 60 \\\n"
      "    --test-source test.en --test-target test.de\n"
      "  heed translate student/model --shortlist student/model/lex.s2t < in.txt");
  command.set_action([arguments] { return run_distill(*arguments); });
}

}  // namespace heed::cli
