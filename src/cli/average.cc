#include <iostream>
#include <memory>

#include "cli/command.h"
#include "heed/base/file.h"
#include "heed/train/weight_average.h"

namespace heed::cli {

void add_average(Command& program) {
  struct Options {
    CommonOptions common;
    std::vector<std::filesystem::path> files;
    std::string out;
  };
  Command command =
      program.add_subcommand("average", "Averages the weights of checkpoints of one run");
  auto options = std::make_shared<Options>();
  command.add_option("checkpoints", options->files, "Files of weights (.safetensors)").required();
  command.add_option("--out", options->out, "File that the mean is written to").required();
  add_common_options(command, options->common);
  command.footer(
      "Example:\n"
      "  heed average model/checkpoints/step-*.safetensors --out model/model.safetensors");
  command.set_action([options] {
    apply(options->common);
    const AtomicFile writable(options->out);  // told before much is read
    io::write_safetensors(options->out, train::average_weights(options->files), {{"format", "pt"}});
    return 0;
  });
}

}  // namespace heed::cli
