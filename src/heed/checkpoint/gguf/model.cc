#include "heed/checkpoint/gguf/model.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/checkpoint/gguf/end_tokens.h"
#include "heed/checkpoint/gguf/weights.h"
#include "heed/model/families/known.h"
#include "heed/model/gguf/metadata.h"

namespace heed::checkpoint {
namespace {

/// Throws Error when another part of each head is rotated than the configuration says.
void check_rotary(const model::ArchitectureMetadata& metadata, const model::ModelConfig& config) {
  const int64_t expected =
      config.latent.present() ? config.latent.qk_rope_head_dim : config.rotary_dim;
  const auto found = metadata.get_or<int64_t>("rope.dimension_count", expected);
  require(config.positions != model::PositionKind::rotary || found == expected,
          "{}: rope.dimension_count is {}, expected {}", metadata.file().name(), found, expected);
}

/// Adds those that eos_token_id does not name.
void add_end_tokens(const io::GgufFile& file, model::ModelConfig& config) {
  for (const int64_t id : gguf_end_tokens(file.metadata())) {
    if (id >= config.vocab_size || id == config.eos_id) continue;
    if (config.eos_id < 0)
      config.eos_id = static_cast<int32_t>(id);
    else
      config.other_eos_ids.push_back(id);
  }
}

/// Sets what config.json cannot say of an encoder's classifier: the converter leaves BERT's pooler
/// out, so that labels are read from the first state itself.
void set_classifier(const io::GgufFile& file, model::ModelConfig& config) {
  if (!config.classifier.present() || config.decoder_layers > 0) return;
  config.classifier.transform = file.contains("cls.weight");
  if (!model::family_of_type(config.family, file.name()).can_express(config))
    config.family = model::heed_family().model_type;
}

}  // namespace

GgufModel open_gguf_model(const io::ModelFiles& files) {
  const auto file = files.gguf();
  require(file->metadata().get_or<std::string>("general.type", "model") != "adapter",
          "{} is an adapter, expected a model", file->name());
  const auto name = file->metadata().get<std::string>("general.architecture");
  const model::ArchitectureMetadata metadata(*file, name);
  GgufModel model{.config = {}, .family = model::gguf_family(metadata), .weights = nullptr};
  const model::GgufForm& form = model.family.gguf;
  nlohmann::json json;
  for (const auto& fields : form.fields) model::read_fields(metadata, fields, json);
  form.read(metadata, json);
  model::ConfigReader reader(json, file->name());
  reader.understand_all();
  model.config = model.family.read_config(reader);
  model.config.family = model.family.model_type;
  // Files state no rates.
  model.config.dropout = model.config.attention_dropout = model.config.activation_dropout = 0.0f;
  if (model.config.decoder_layers > 0) add_end_tokens(*file, model.config);
  try {
    model.config.validate();
  } catch (const Error& error) {
    fail("{}: {}", file->name(), error.what());
  }
  set_classifier(*file, model.config);
  check_rotary(metadata, model.config);
  for (std::string& warning : metadata.warnings())
    model.config.warnings.push_back(std::move(warning));
  model.family.stored = form.stored;
  model.family.redundant = gguf_redundant;
  model.family.prefix = {};
  model.weights = gguf_weights(file, model.config, form.in_pairs);
  return model;
}

}  // namespace heed::checkpoint
