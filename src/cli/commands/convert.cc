#include "heed/convert.h"

#include <filesystem>
#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"

namespace heed::cli {
namespace {

struct ConvertArguments {
  CommonOptions common;
  std::string model, out, weights, base;
  std::vector<std::string> adapters;
};

/// What is converted: a model, or with a base model an adapter alone.
std::filesystem::path find_source(const ConvertArguments& arguments) {
  if (arguments.base.empty()) return find_model(arguments.model);
  const AdapterOptions adapter = find_adapters({arguments.model}).front();
  require(adapter.scale == 1, "{}: a scale is for --adapter", arguments.model);
  return adapter.path;
}

int run(const ConvertArguments& arguments) {
  const Threads threads(arguments.common);
  ConvertOptions options{.weights = arguments.weights,
                         .adapters = find_adapters(arguments.adapters),
                         .executor = threads.executor()};
  if (!arguments.base.empty()) options.base = find_model(arguments.base, {.weights = false});
  print_warnings(convert_model(find_source(arguments), arguments.out, options));
  return 0;
}

}  // namespace

void add_convert(Command& program) {
  Command command = program.add_subcommand(
      "convert",
      "Writes a model or a LoRA adapter as a GGUF file or as a directory, also with other types");
  auto options = std::make_shared<ConvertArguments>();
  command
      .add_option("model,--model", options->model,
                  fmt::format("{}; with --base an adapter of that model", kModelHelp))
      .names_model()
      .required();
  command
      .add_option("--out", options->out,
                  "New GGUF file if it ends with .gguf, otherwise new directory")
      .required();
  command.add_option("--weights", options->weights,
                     "Type of the matrices in a GGUF file: f16 unless given, f32, bf16, or a block "
                     "type as heed quantize has them; or of all weights in a directory: f32 unless "
                     "given, f16 or bf16. An adapter has f32 unless given, or in a GGUF file f16, "
                     "bf16 or q8_0");
  command.add_option("--adapter", options->adapters, kAdapterHelp);
  command.add_option("--base", options->base,
                     "Model whose LoRA adapter is converted alone, without being added to it; only "
                     "the configuration is read");
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed convert Llama-3.2-1B --out llama.gguf\n"
      "  heed convert Llama-3.2-1B --adapter adapter --weights q8_0 --out tuned.gguf\n"
      "  heed convert model.gguf --weights bf16 --out directory\n"
      "  heed convert model-f32.gguf --weights q4_0 --out model-q4_0.gguf\n"
      "  heed convert adapter --base Llama-3.2-1B --out adapter.gguf");
  command.set_action([options] { return run(*options); });
}

}  // namespace heed::cli
