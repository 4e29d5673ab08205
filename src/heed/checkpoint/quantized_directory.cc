#include "heed/checkpoint/quantized_directory.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/io/safetensors.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

/// Whether a file, judging by its name, belongs to the tokenizer or the settings. An index of
/// shards does not.
bool is_copied(const fs::path& file) {
  constexpr std::array kEnds{".json", ".txt", ".model", ".spm", ".jinja"};
  const std::string name = file.filename().string();
  if (name.ends_with(".index.json") || name == "config.json") return false;
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

/// The files that save_quantized() copies, relative to the directory, including the settings of
/// sentence-transformers' modules in their folders.
std::vector<fs::path> copied_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.is_regular_file() && is_copied(entry.path()))
      files.push_back(entry.path().filename());
    const fs::path settings = entry.path().filename() / "config.json";
    if (entry.is_directory() && path_exists(directory / settings) &&
        path_exists(directory / "modules.json"))
      files.push_back(settings);
  }
  return files;
}

}  // namespace

void save_quantized(const fs::path& directory, const model::Transformer& model,
                    const fs::path& original) {
  make_directory(directory);
  require(!fs::equivalent(directory, original),
          "{} is the original model, expected another directory for the quantised one",
          directory.string());
  for (const fs::path& file : copied_files(original)) {
    make_directory((directory / file).parent_path());
    write_file_atomically(directory / file, read_file(original / file));
  }
  const fs::path config = original / "config.json";
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(read_file(config));
  json["quantization_config"] = {{"quant_method", kQuantMethod}};
  write_file_atomically(directory / "config.json", dump_json(json, {.indent = 2}) + "\n");
  std::vector<io::NamedTensor> weights;
  for (const Parameter& parameter : model.parameters().all())
    weights.push_back({parameter.name, parameter.value});
  io::write_safetensors(directory / kQuantizedWeights, weights, {{"format", kQuantMethod.data()}});
}

}  // namespace heed::checkpoint
