#include "cli/terminal/warnings.h"

#include <cstdio>

#include "cli/ranks.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/inspect/markup.h"

namespace heed::cli {

void print_warnings(const std::vector<std::string>& warnings) {
  if (!prints_for_all()) return;
  for (const std::string& warning : warnings)
    std::fprintf(stderr, "heed: warning: %s\n", inspect::printable(warning).c_str());
}

void print_config_warnings(const std::filesystem::path& path) {
  print_warnings(checkpoint::build_model(path)->config().warnings);
}

}  // namespace heed::cli
