#include "cli/terminal/warnings.h"

#include <cstdio>

#include "cli/ranks.h"
#include "heed/base/display.h"
#include "heed/model_facts.h"

namespace heed::cli {

void print_message(const std::string& text) {
  std::fprintf(stderr, "heed: %s\n", printable(text).c_str());
}

void print_warnings(const std::vector<std::string>& warnings) {
  if (!prints_for_all()) return;
  for (const std::string& warning : warnings) print_message("warning: " + warning);
}

void print_config_warnings(const std::filesystem::path& path) {
  print_warnings(configuration_warnings(path));
}

}  // namespace heed::cli
