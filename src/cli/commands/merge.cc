#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/terminal/warnings.h"
#include "heed/convert.h"

namespace heed::cli {
namespace {

struct MergeOptions {
  CommonOptions common;
  std::string model, out;
  std::vector<std::string> adapters;
};

int run_merge(const MergeOptions& options) {
  const Threads threads(options.common);
  print_warnings(
      convert_model(find_model(options.model), options.out,
                    {.adapters = find_adapters(options.adapters), .executor = threads.executor()}));
  return 0;
}

}  // namespace

void add_merge(Command& program) {
  Command command = program.add_subcommand(
      "merge",
      "Adds LoRA adapters to the weights of a model, and writes a model directory or a GGUF file");
  auto options = std::make_shared<MergeOptions>();
  command.add_option("model,--model", options->model, kModelHelp).names_model().required();
  command.add_option("--adapter", options->adapters, kAdapterHelp).required();
  command
      .add_option("--out", options->out,
                  "New model directory, with weights in f32, or new GGUF file (.gguf) in f16")
      .required();
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed merge Llama-3.2-1B --adapter adapter --out merged\n"
      "  heed merge model.gguf --adapter style=0.5 --adapter OWNER/NAME --out merged");
  command.set_action([options] { return run_merge(*options); });
}

}  // namespace heed::cli
