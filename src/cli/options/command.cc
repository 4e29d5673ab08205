#include "cli/options/command.h"

namespace heed::cli {

void add_threads_option(Command& command, CommonOptions& options) {
  const OptionGroup group(command, kGeneralGroup);
  command.add_option("--threads", options.threads, "Number of threads (default: all processors)")
      .range(1, 1024);
}

Option add_seed_option(Command& command, CommonOptions& options) {
  return command.add_option("--seed", options.seed, "Random seed").show_default();
}

}  // namespace heed::cli
