// heed: trains, runs and explains Transformers. Each subcommand has a file of its own beside this
// one.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/ranks.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/compute.h"
#include "heed/ranks.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongCommandLine = 2;

/// Prints an error on one line. File names and arguments in messages may contain any byte.
int report(std::string_view message, std::string_view hint = "") {
  std::fprintf(stderr, "heed: error: %s%s\n", heed::printable(message).c_str(),
               std::string(hint).c_str());
  return kFailed;
}

/// Reports the error of this process, or of several ranks the one of a rank. Returns `status`.
int report_on_one_rank(int status, const std::string& message, const std::string& hint = "") {
  try {
    heed::cli::agree_on_error(message + hint);
    report(message, hint);
  } catch (const heed::ReportedElsewhere&) {
  } catch (const heed::Error& error) {
    report(error.what());
  }
  return status;
}

/// Whether HEED_CPU, if it is set, names a machine. Reports it otherwise.
bool machine_is_known() {
  try {
    heed::require_known_machine();
    return true;
  } catch (const heed::Error& error) {
    report_on_one_rank(kWrongCommandLine, error.what());
    return false;
  }
}

/// What to type where a model is missing.
std::string missing_model_hint(const heed::cli::Program& program) {
  std::string choices;
  try {
    choices = "\n" + heed::cli::model_choices();
  } catch (const std::exception&) {  // A cache that cannot be read is not what was asked for.
  }
  return fmt::format(" (see {}){}", program.help_command(), choices);
}

/// `status`, or a failure if the output could not be written, for example to a full disk.
int finished(int status) {
  std::cout.flush();
  // A failed write empties the buffer, so that a later flush succeeds: check the error flags, too.
  if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return report("standard output cannot be written");
}

void add_commands(heed::cli::Program& program) {
  program.begin_commands("Generate, translate, serve");
  heed::cli::add_chat(program);
  heed::cli::add_generate(program);
  heed::cli::add_translate(program);
  heed::cli::add_serve(program);
  program.begin_commands("Texts to numbers and labels");
  heed::cli::add_embed(program);
  heed::cli::add_rerank(program);
  heed::cli::add_classify(program);
  heed::cli::add_detect(program);
  heed::cli::add_fill(program);
  heed::cli::add_score(program);
  heed::cli::add_evaluate(program);
  program.begin_commands("Look into a model");
  heed::cli::add_info(program);
  heed::cli::add_attend(program);
  heed::cli::add_logits(program);
  heed::cli::add_tokenizer(program);
  heed::cli::add_check_schema(program);
  heed::cli::add_bench(program);
  program.begin_commands("Train and change models");
  heed::cli::add_train(program);
  heed::cli::add_launch(program);
  heed::cli::add_distill(program);
  heed::cli::add_quantize(program);
  heed::cli::add_convert(program);
  heed::cli::add_merge(program);
  heed::cli::add_shortlist(program);
  heed::cli::add_average(program);
  program.begin_commands("About heed");
  heed::cli::add_help(program);
  heed::cli::add_completion(program);
  heed::cli::add_manual(program);
}

}  // namespace

int main(int argc, char** argv) {
  if (!machine_is_known()) return kWrongCommandLine;
  heed::cli::Program program("heed", "heed: trains, runs and explains Transformers",
                             "heed " HEED_VERSION);
  program.footer(
      "heed help COMMAND, or heed COMMAND --help, shows the options of a command and examples.\n"
      "HEED_CPU=KIND restricts heed to the instructions of a lesser kind of machine: baseline,\n"
      "avx2, avx2_vnni, avx512, avx512_bf16 or amx; on Arm baseline or dotprod.");
  add_commands(program);
  try {
    return finished(program.run(argc, argv));
  } catch (const heed::cli::MissingModel& error) {
    return report_on_one_rank(kWrongCommandLine, error.what(), missing_model_hint(program));
  } catch (const heed::cli::UsageError& error) {
    return report_on_one_rank(kWrongCommandLine, error.what(),
                              fmt::format(" (see {})", program.help_command()));
  } catch (const heed::ReportedElsewhere&) {
    return kFailed;
  } catch (const std::bad_alloc&) {
    return report("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return report_on_one_rank(
        kFailed, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report_on_one_rank(kFailed, error.what());
  }
}
