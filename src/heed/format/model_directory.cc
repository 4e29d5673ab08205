#include "heed/format/model_directory.h"

#include <map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/model/families/family.h"

namespace heed::format {
namespace {

nlohmann::json generation_config(const model::ModelConfig& c) {
  return {{"pad_token_id", c.pad_id},
          {"eos_token_id", c.eos_id},
          {"decoder_start_token_id", c.start_id},
          {"max_length", c.max_positions},
          {"num_beams", 4}};
}

std::string text_of(const nlohmann::json& json) { return json.dump(2) + "\n"; }

Tensor checked(const TensorSource& source, const model::StoredWeight& stored,
               const std::string& name) {
  require(source.contains(stored.name), "{}: {} is missing, config.json wants it as {}",
          source.name(), stored.name, stored.shape.text());
  Tensor tensor = source.get(stored.name);
  require(tensor.shape() == stored.shape, "{}: {} is {}, config.json wants {} (for {})",
          source.name(), stored.name, tensor.shape().text(), stored.shape.text(), name);
  return tensor;
}

}  // namespace

std::unique_ptr<model::Transformer> load_model(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "config.json";
  require(std::filesystem::is_directory(directory), "{} is not a model directory",
          directory.string());
  const nlohmann::json json = parse_json(read_file(file), file.string());
  const model::Family& family =
      model::family_of_type(get<std::string>(json, "model_type", file.string()), file.string());
  model::ModelConfig config = family.read_config(json, file.string());
  try {
    config.validate();
  } catch (const Error& error) {
    fail("{}: {}", file.string(), error.what());
  }
  const auto weights = open_model_tensors(directory);
  auto model = std::make_unique<model::Transformer>(config);
  load_weights(*model, *weights);
  return model;
}

void load_weights(model::Transformer& model, const TensorSource& source) {
  const model::Family& family = model::family_for(model.config());
  std::map<std::string, bool> used;
  for (const std::string& name : source.names()) used[name] = family.redundant(name);
  for (Parameter& parameter : model.parameters().all()) {
    const model::StoredWeight stored = family.stored(parameter.name, parameter.value.shape());
    const Tensor tensor = checked(source, stored, parameter.name);
    parameter.value = as_f32(tensor).reshaped(parameter.value.shape());
    used[stored.name] = true;
  }
  for (const auto& [name, known] : used)
    require(known, "{}: {} is a tensor that config.json has no place for", source.name(), name);
}

std::vector<NamedTensor> stored_weights(const model::Transformer& model) {
  const model::Family& family = model::family_for(model.config());
  std::vector<NamedTensor> weights;
  for (const Parameter& parameter : model.parameters().all()) {
    const model::StoredWeight stored = family.stored(parameter.name, parameter.value.shape());
    weights.push_back({stored.name, parameter.value.reshaped(stored.shape)});
  }
  return weights;
}

void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  require(!error, "{} cannot be made: {}", directory.string(), error.message());
  const model::ModelConfig& config = model.config();
  for (const auto& [name, contents] : others) write_file_atomically(directory / name, contents);
  write_file_atomically(directory / "config.json",
                        text_of(model::family_for(config).write_config(config)));
  write_file_atomically(directory / "generation_config.json", text_of(generation_config(config)));
  write_safetensors(directory / "model.safetensors", stored_weights(model), {{"format", "pt"}});
}

}  // namespace heed::format
