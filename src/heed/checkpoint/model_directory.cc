#include "heed/checkpoint/model_directory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/fit_config.h"
#include "heed/checkpoint/gguf/model.h"
#include "heed/checkpoint/marian/marian_model.h"
#include "heed/checkpoint/mxfp4_experts.h"
#include "heed/checkpoint/quantized_directory.h"
#include "heed/kernels/quantize.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"

namespace heed::checkpoint {
namespace {

constexpr std::string_view kConfig = "config.json";

/// How the weights of a directory are quantised: not, by save_quantized(), or only the experts, in
/// MXFP4 (mxfp4_experts.h).
enum class Quantization { none, own, mxfp4 };

/// What config.json says.
struct Description {
  model::ModelConfig config;
  model::Family family;
  Quantization quantization = Quantization::none;
};

/// Changes `family` to name quantised weights: those that save_quantized() wrote as heed does, one
/// tensor per parameter.
Quantization take_quantization(model::Family& family, const nlohmann::json& json,
                               const std::string& file) {
  if (json.value("quantization_config", nlohmann::json()).is_null()) return Quantization::none;
  const auto method = get_or<std::string>(json["quantization_config"], "quant_method", "", file);
  if (method == "mxfp4" && family.stored_mxfp4) {
    family.stored = family.stored_mxfp4;
    return Quantization::mxfp4;
  }
  require(
      method == kQuantMethod,
      "{}: the weights are quantised by {}, which heed does not read for {} (only its own, GGUF "
      "and gpt-oss's MXFP4)",
      file, quoted(method), family.model_type);
  const model::Family own = model::heed_family();
  family.stored = own.stored;
  family.redundant = own.redundant;
  family.prefix = own.prefix;
  family.older_name = own.older_name;
  return Quantization::own;
}

Description read_description(const std::filesystem::path& directory) {
  require(path_is_directory(directory), "{} is not a model directory{}", directory.string(),
          path_exists(directory) ? "" : ": it does not exist");
  const std::filesystem::path file = directory / kConfig;
  if (!path_exists(file))
    fail("{} has no {}{}", directory.string(), kConfig,
         path_exists(directory / "gliner_config.json")
             ? ": it is a GLiNER model, which heed does not run (it has an LSTM)"
             : "");
  const nlohmann::json json = parse_json(read_file(file), file.string());
  model::Family family =
      model::family_of_type(get<std::string>(json, "model_type", file.string()), file.string());
  model::ModelConfig config = family.read_config(json, file.string());
  if (config.family.empty()) config.family = family.model_type;
  try {
    config.validate();
  } catch (const Error& error) {
    fail("{}: {}", file.string(), error.what());
  }
  const Quantization quantization = take_quantization(family, json, file.string());
  return {std::move(config), family, quantization};
}

std::shared_ptr<const io::TensorSource> tensors_of(const Description& description,
                                                   const std::filesystem::path& directory) {
  if (description.quantization == Quantization::own)
    return io::SafetensorsFile::open(directory / kQuantizedWeights);
  auto tensors = io::open_model_tensors(directory);
  return description.quantization == Quantization::mxfp4 ? mxfp4_experts(std::move(tensors))
                                                         : std::move(tensors);
}

bool has_tensors(const Description& description, const std::filesystem::path& directory) {
  return description.quantization == Quantization::own ? path_exists(directory / kQuantizedWeights)
                                                       : io::has_model_tensors(directory);
}

/// Whether a model is described by its weights, too, which may decide what config.json leaves open.
enum class ReadWeights { always, if_present, never };

/// A model in its files.
struct StoredModel {
  model::ModelConfig config;
  model::Family family;                             // with the names of the weights in the files
  std::shared_ptr<const io::TensorSource> weights;  // null without them
  std::filesystem::path file;                       // which describes it, for messages

  StoredModel(const io::ModelFiles& files, ReadWeights read) : file(files.path()) {
    if (files.is_gguf()) {
      GgufModel stored = open_gguf_model(files);
      config = std::move(stored.config);
      family = std::move(stored.family);
      if (read != ReadWeights::never) weights = std::move(stored.weights);
      return;
    }
    if (const auto native = io::MarianFiles::find(file)) {
      MarianModel stored = open_marian_model(*native);
      config = std::move(stored.config);
      family = std::move(stored.family);
      if (read != ReadWeights::never) weights = std::move(stored.weights);
      file = native->weights;
      return;
    }
    Description description = read_description(file);
    family = std::move(description.family);
    config = std::move(description.config);
    if (read == ReadWeights::always ||
        (read == ReadWeights::if_present && has_tensors(description, file)))
      weights = tensors_of(description, file);
    if (weights) config = fitted(std::move(config), family, *weights);
    file /= kConfig;
  }

  /// The model without the values of its weights.
  std::unique_ptr<model::Transformer> build(const BuildOptions& options) const {
    try {
      model::ModelConfig own = config;
      if (options.context) own.set_context(*options.context);
      return std::make_unique<model::Transformer>(std::move(own), std::nullopt, options.parts);
    } catch (const Error& error) {
      fail("{}: {}", file.string(), error.what());
    }
  }
};

/// Upper limit of max_length in generation_config.json.
constexpr int64_t kMaxLength = 4096;

nlohmann::json generation_config(const model::ModelConfig& c) {
  nlohmann::json json = {{"pad_token_id", model::token_json(c.pad_id)},
                         {"bos_token_id", model::token_json(c.bos_id)},
                         {"eos_token_id", model::eos_json(c)},
                         {"max_length", std::min(c.max_positions, kMaxLength)}};
  if (c.encoder_layers > 0 && c.decoder_layers > 0) {
    json["decoder_start_token_id"] = c.decoder_start_id;
    json["num_beams"] = 4;
  }
  return json;
}

/// The name of a dtype in config.json.
const char* torch_name(DType dtype) {
  if (dtype == DType::f32) return "float32";
  return dtype == DType::bf16 ? "bfloat16" : "float16";
}

/// Writes tensors, f32, in another dtype.
void write_weights(const std::filesystem::path& path, const std::vector<io::NamedTensor>& weights,
                   DType dtype) {
  std::vector<io::DescribedTensor> described;
  for (const auto& [name, tensor] : weights)
    described.push_back(
        {name, tensor.shape(), name.ends_with("e_score_correction_bias") ? DType::f32 : dtype});
  io::write_safetensors(path, described, {{"format", "pt"}}, [&](size_t i) {
    if (described[i].dtype == DType::f32) return weights[i].tensor;
    Tensor converted = Tensor::empty(described[i].shape, dtype);
    kernels::quantize(weights[i].tensor, converted);
    return converted;
  });
}

std::string text_of(const nlohmann::json& json) { return dump_json(json, {.indent = 2}) + "\n"; }

}  // namespace

OpenedModel::OpenedModel(const io::ModelFiles& files, const BuildOptions& options)
    : random_seed_(options.random_seed) {
  StoredModel stored(files, random_seed_ ? ReadWeights::never : ReadWeights::always);
  model_ = stored.build(options);
  model_->move_to(options.device);
  family_ = std::move(stored.family);
  weights_ = std::move(stored.weights);
}

std::vector<DType> OpenedModel::stored_dtypes() const {
  std::vector<DType> dtypes;
  for (const Parameter& parameter : model_->parameters().all())
    dtypes.push_back(weights_ ? stored_dtype(parameter, *model_, family_, *weights_) : DType::f32);
  return dtypes;
}

std::unique_ptr<model::Transformer> OpenedModel::load(const WeightOptions& options) && {
  if (random_seed_) {
    init_weights(*model_, *random_seed_, options.precision);
    if (options.pack) model_->pack(*options.pack);
  } else {
    load_weights(*model_, family_, *weights_, options.precision, options.pack, options.on_packed);
  }
  return std::move(model_);
}

std::unique_ptr<model::Transformer> build_model(const io::ModelFiles& files,
                                                std::optional<int64_t> context) {
  return StoredModel(files, ReadWeights::if_present).build({.context = context});
}

std::shared_ptr<const io::TensorSource> open_directory_tensors(
    const std::filesystem::path& directory) {
  if (const auto native = io::MarianFiles::find(directory))
    return open_marian_model(*native).weights;
  return tensors_of(read_description(directory), directory);
}

std::unique_ptr<model::Transformer> load_model(const io::ModelFiles& files,
                                               const WeightOptions& options,
                                               const BuildOptions& build) {
  return OpenedModel(files, build).load(options);
}

void load_stored_weights(model::Transformer& model, const io::ModelFiles& files) {
  const StoredModel stored(files, ReadWeights::always);
  load_weights(model, stored.family, *stored.weights, {std::nullopt});
}

void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others, DType dtype) {
  make_directory(directory);
  const model::ModelConfig& config = model.config();
  const model::Family& family = model::family_for(config);
  for (const auto& [name, contents] : others) {
    make_directory((directory / name).parent_path());
    write_file_atomically(directory / name, contents);
  }
  nlohmann::json json = family.write_config(config);
  if (dtype != DType::f32) json["torch_dtype"] = torch_name(dtype);
  write_file_atomically(directory / kConfig, text_of(json));
  if (model.has_decoder())
    write_file_atomically(directory / "generation_config.json", text_of(generation_config(config)));
  write_weights(directory / "model.safetensors", stored_weights(model, family), dtype);
}

}  // namespace heed::checkpoint
