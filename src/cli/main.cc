// heed: trains, runs and explains Transformers. One file a subcommand beside this one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/command.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongCommandLine = 2;

int report(const std::exception& error) {
  std::fprintf(stderr, "heed: error: %s\n", error.what());
  return kFailed;
}

/// The status to end with: a failure if what was printed did not arrive, on a full disk for
/// example.
int finished(int status) {
  std::cout.flush();
  // A buffer that could not be written is empty all the same, so flushing alone does not tell.
  if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return report(std::runtime_error("standard output cannot be written"));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("heed: trains, runs and explains Transformers", "heed");
  program.set_version_flag("--version", "heed " HEED_VERSION);
  program.require_subcommand(1);
  program.footer("heed COMMAND --help tells more, with an example.");
  heed::cli::add_train(program);
  heed::cli::add_translate(program);
  heed::cli::add_generate(program);
  heed::cli::add_score(program);
  heed::cli::add_fill(program);
  heed::cli::add_embed(program);
  heed::cli::add_evaluate(program);
  heed::cli::add_attend(program);
  heed::cli::add_tokenizer(program);
  heed::cli::add_quantize(program);
  heed::cli::add_average(program);
  heed::cli::add_info(program);
  heed::cli::add_logits(program);
  heed::cli::add_bench(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return finished(program.exit(done));
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "heed: error: %s (see heed --help)\n", error.what());
    return kWrongCommandLine;
  } catch (const std::bad_alloc&) {
    return report(std::runtime_error("out of memory"));
  } catch (const std::exception& error) {
    return report(error);
  }
  return finished(heed::cli::status());
}
