#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/copied_files.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf.h"
#include "heed/text/files/gguf_tokenizer.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  CommonOptions common;
  std::string model, out;
  std::vector<std::string> adapters;
};

/// The files beside a model's weights: the tokenizer and settings.
std::vector<checkpoint::NamedFile> files_beside(const fs::path& model) {
  if (path_is_file(model)) {
    const auto file = io::GgufFile::open(model);
    return text::read_gguf_tokenizer(file->metadata(), model.string()).files();
  }
  std::vector<checkpoint::NamedFile> files;
  for (const fs::path& file : checkpoint::copied_files(model))
    files.emplace_back(file.string(), read_file(model / file));
  return files;
}

int run_merge(const MergeOptions& options) {
  const Threads threads(options.common);
  const fs::path out = fs::path(options.out).lexically_normal(), base = find_model(options.model);
  require(!path_exists(out), "{} already exists: choose another name or remove it", out.string());
  const std::vector<AdapterOptions> adapters = find_adapters(options.adapters);
  const auto model = checkpoint::load_model(base);
  print_warnings(model->config().warnings);
  for (const auto& [path, name, scale] : adapters) {
    const checkpoint::LoadedAdapter adapter = checkpoint::load_adapter(path, *model);
    print_warnings(adapter.warnings);
    checkpoint::replace_weights(*model, adapter);
    checkpoint::merge_adapter(*model, adapter.lora->updates(), scale);
  }
  fs::path unfinished = out.has_filename() ? out : out.parent_path();
  const fs::path target = unfinished;
  unfinished += ".tmp";
  remove_tree(unfinished);
  try {
    checkpoint::save_model(unfinished, *model, {});
    // The settings of the model replace those that save_model() derives from its configuration.
    for (const auto& [name, contents] : files_beside(base)) {
      make_directory((unfinished / name).parent_path());
      write_file_atomically(unfinished / name, contents);
    }
    replace_directory(unfinished, target);
  } catch (...) {
    std::error_code ignored;  // the error to report is that of writing
    fs::remove_all(unfinished, ignored);
    throw;
  }
  return 0;
}

}  // namespace

void add_merge(Command& program) {
  Command command = program.add_subcommand(
      "merge", "Adds LoRA adapters to the weights of a model, and writes a model directory");
  auto options = std::make_shared<MergeOptions>();
  command.add_option("model", options->model, kModelHelp).required();
  command.add_option("--adapter", options->adapters, kAdapterHelp).required();
  command.add_option("--out", options->out, "New model directory, with weights in f32").required();
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed merge Llama-3.2-1B --adapter adapter --out merged\n"
      "  heed merge model.gguf --adapter style=0.5 --adapter OWNER/NAME --out merged");
  command.set_action([options] { return run_merge(*options); });
}

}  // namespace heed::cli
