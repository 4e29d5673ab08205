#include "heed/convert.h"

#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/terminal/warnings.h"

namespace heed::cli {
namespace {

struct ConvertArguments {
  CommonOptions common;
  std::string model, out, weights;
  std::vector<std::string> adapters;
};

int run(const ConvertArguments& arguments) {
  const Threads threads(arguments.common);
  print_warnings(convert_model(find_model(arguments.model), arguments.out,
                               {.weights = arguments.weights,
                                .adapters = find_adapters(arguments.adapters),
                                .executor = threads.executor()}));
  return 0;
}

}  // namespace

void add_convert(Command& program) {
  Command command = program.add_subcommand(
      "convert", "Writes a model directory as a GGUF file, or a GGUF file as a model directory");
  auto options = std::make_shared<ConvertArguments>();
  command.add_option("model", options->model, kModelHelp).required();
  command
      .add_option(
          "--out", options->out,
          "New GGUF file if it ends with .gguf, otherwise new model directory, with weights "
          "in f32")
      .required();
  command.add_option("--weights", options->weights,
                     "Type of the matrices in a GGUF file: f16 unless given, f32, bf16, or a block "
                     "type as heed quantize has them");
  command.add_option("--adapter", options->adapters, kAdapterHelp);
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed convert Llama-3.2-1B --out llama.gguf\n"
      "  heed convert Llama-3.2-1B --adapter adapter --weights q8_0 --out tuned.gguf\n"
      "  heed convert model.gguf --out directory");
  command.set_action([options] { return run(*options); });
}

}  // namespace heed::cli
