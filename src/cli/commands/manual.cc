#include <filesystem>
#include <memory>

#include "cli/options/command.h"
#include "cli/options/manual_page.h"
#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::cli {
namespace {

const ManualFacts& facts() {
  static const ManualFacts kFacts{
      .version = "heed " HEED_VERSION,
      .date = HEED_DATE,
      .exit_statuses = {{"0", "The command did what was asked."},
                        {"1",
                         "It failed; a line on standard error says why. Also: a text is not "
                         "valid (check-schema)."},
                        {"2", "The command line is wrong."}},
      .environment = {{"HF_HOME",
                       "Directory of the Hugging Face hub's cache (in hub/) and token (default: "
                       "~/.cache/huggingface). HF_HUB_CACHE names the cache alone."},
                      {"HF_TOKEN", "Token for models of the hub that need one."},
                      {"HF_ENDPOINT", "The hub (default: https://huggingface.co)."},
                      {"HF_HUB_OFFLINE", "1: use the models in the cache, ask the hub for none."},
                      {"https_proxy",
                       "Proxy for downloads, as for curl. SSL_CERT_FILE names the certificates "
                       "of authorities."},
                      {"HEED_CPU",
                       "Restricts heed to the instructions of a lesser kind of machine: baseline, "
                       "avx2, avx2_vnni, avx512, avx512_bf16 or amx; on Arm baseline or dotprod."},
                      {"NO_COLOR", "If set, chat prints no colours."}}};
  return kFacts;
}

void write_pages(const CommandHelp& command, const std::filesystem::path& directory) {
  write_file_atomically(directory / (page_name(command.name) + ".1"),
                        manual_page(command, facts()));
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
