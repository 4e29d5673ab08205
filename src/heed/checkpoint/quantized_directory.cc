#include "heed/checkpoint/quantized_directory.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/copied_files.h"
#include "heed/io/safetensors.h"

namespace heed::checkpoint {
namespace fs = std::filesystem;

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
