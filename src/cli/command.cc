#include "cli/command.h"

#include "heed/base/parallel.h"

namespace heed::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--threads", options.threads, "Number of threads (default: all processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--seed", options.seed, "Random seed")->capture_default_str();
}

void apply(const CommonOptions& options) {
  if (options.threads > 0) set_thread_count(options.threads);
}

namespace {
int exit_status = 0;
}

void set_action(CLI::App& app, std::function<int()> action) {
  app.callback([action = std::move(action)] { exit_status = action(); });
}

int status() { return exit_status; }

}  // namespace heed::cli
