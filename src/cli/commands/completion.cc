#include <iostream>
#include <memory>

#include "cli/options/command.h"
#include "cli/options/completion_script.h"

namespace heed::cli {

void add_completion(Command& program) {
  Command command = program.add_subcommand(
      "completion", "Prints a script that completes heed's commands in a shell");
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "The shell").required().one_of({"bash", "zsh", "fish"});
  command.footer(
      "Examples:\n"
      "  source <(heed completion bash)                                      # in ~/.bashrc\n"
      "  heed completion zsh > ~/.zfunc/_heed                                # a folder of $fpath\n"
      "  heed completion fish > ~/.config/fish/completions/heed.fish");
  command.set_action([program, shell] {
    const CommandHelp help = program.help();
    std::cout << (*shell == "bash"  ? bash_completion(help)
                  : *shell == "zsh" ? zsh_completion(help)
                                    : fish_completion(help));
    return 0;
  });
}

}  // namespace heed::cli
