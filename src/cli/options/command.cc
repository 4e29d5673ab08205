#include "cli/options/command.h"

namespace heed::cli {

void add_threads_option(Command& command, CommonOptions& options) {
  command.add_option("--threads", options.threads, "Number of threads (default: all processors)")
      .range(1, 1024);
}

void add_common_options(Command& command, CommonOptions& options) {
  add_threads_option(command, options);
  command.add_option("--seed", options.seed, "Random seed").show_default();
}

}  // namespace heed::cli
