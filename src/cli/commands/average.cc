#include <iostream>
#include <memory>

#include "cli/options/command.h"
#include "heed/base/output_file.h"
#include "heed/train.h"

namespace heed::cli {

void add_average(Command& program) {
  struct Options {
    CommonOptions common;
    std::vector<std::filesystem::path> files;
    std::string out;
  };
  Command command =
      program.add_subcommand("average", "Averages the weights of several checkpoints of a run");
  auto options = std::make_shared<Options>();
  command.add_option("checkpoints", options->files, "Weight files to average (.safetensors)")
      .required();
  command.add_option("--out", options->out, "Weight file to write (.safetensors)").required();
  add_threads_option(command, options->common);
  command.footer(
      "Example:\n"
      "  heed average model/checkpoints/step-*.safetensors --out model/model.safetensors");
  command.set_action([options] {
    const Threads threads(options->common);
    require_output_file("--out", options->out);
    average_weights(options->files, options->out);
    return 0;
  });
}

}  // namespace heed::cli
