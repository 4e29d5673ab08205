#include <filesystem>
#include <memory>

#include "cli/options/command.h"
#include "cli/options/manual_page.h"
#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::cli {
namespace {

void write_pages(const CommandHelp& command, const std::filesystem::path& directory) {
  write_file_atomically(directory / (page_name(command.name) + ".1"),
                        manual_page(command, "heed " HEED_VERSION));
  for (const CommandHelp& one : command.commands) write_pages(one, directory);
}

}  // namespace

void add_manual(Command& program) {
  Command command = program.add_subcommand("manual", "Writes a manual page for each command");
  auto directory = std::make_shared<std::string>();
  command.add_option("directory", *directory, "Directory for the pages, which exists").required();
  command.footer(
      "Example:\n"
      "  heed manual /tmp && man /tmp/heed-translate.1");
  command.set_action([program, directory] {
    require(path_is_directory(*directory), "{} is not a directory", *directory);
    write_pages(program.help(), *directory);
    return 0;
  });
}

}  // namespace heed::cli
