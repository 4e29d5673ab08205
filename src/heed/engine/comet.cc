#include "heed/comet.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/parallel.h"
#include "heed/checkpoint/weights.h"
#include "heed/engine/load.h"
#include "heed/engine/system_errors.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/tasks/comet_scorer.h"
#include "heed/tasks/comet_settings.h"
#include "heed/tasks/text_settings.h"
#include "heed/text/utf8.h"

namespace heed {

struct engine::LoadedComet {
  std::shared_ptr<Executor> executor;  // null: the shared one
  std::unique_ptr<const model::Transformer> encoder;
  std::unique_ptr<const tasks::CometScorer> scorer;
};

namespace {

constexpr const char* kCometSettingsFile = "hparams.yaml";
constexpr std::string_view kEncoderPrefix = "encoder.model.";

/// The tensors of a source whose names begin with a prefix, without it.
class PrefixedTensors final : public io::TensorSource {
 public:
  PrefixedTensors(std::shared_ptr<const io::TensorSource> source, std::string_view prefix)
      : source_(std::move(source)), prefix_(prefix) {}

  std::string name() const override { return source_->name(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const std::string& name : source_->names())
      if (name.starts_with(prefix_)) names.push_back(name.substr(prefix_.size()));
    return names;
  }
  bool contains(const std::string& name) const override {
    return source_->contains(prefix_ + name);
  }
  Tensor get(const std::string& name) const override { return source_->get(prefix_ + name); }
  DType dtype(const std::string& name) const override { return source_->dtype(prefix_ + name); }
  void release(const std::string& name) const override { source_->release(prefix_ + name); }

 private:
  const std::shared_ptr<const io::TensorSource> source_;
  const std::string prefix_;
};

std::shared_ptr<const io::TensorSource> open_comet_weights(const std::filesystem::path& directory) {
  if (io::has_model_tensors(directory)) return io::open_model_tensors(directory);
  const std::filesystem::path checkpoint = directory / "checkpoints" / "model.ckpt";
  require(std::filesystem::exists(checkpoint), "{}: neither model.safetensors nor {} exists",
          directory.string(), "checkpoints/model.ckpt");
  return io::PyTorchFile::open(checkpoint);
}

/// Where config.json and the tokenizer of the encoder are.
std::filesystem::path encoder_directory(const std::filesystem::path& directory,
                                        const tasks::CometSettings& settings, HubOptions hub) {
  if (std::filesystem::exists(directory / "config.json")) return directory;
  require(!settings.encoder.empty(), "{} has no config.json, and {} no pretrained_model",
          directory.string(), kCometSettingsFile);
  hub.weights = false;
  return resolve_model(settings.encoder, hub);
}

/// The bare encoder of an XLM-R, whatever class its configuration names.
std::unique_ptr<const model::Transformer> load_encoder(
    const std::filesystem::path& directory, std::shared_ptr<const io::TensorSource> weights) {
  const std::filesystem::path file = directory / "config.json";
  nlohmann::json json = tasks::read_object(file);
  const model::Family& family = model::family_of_type("xlm-roberta", file.string());
  require(json.value("model_type", "") == family.model_type,
          "{}: the encoder of a COMET model is an xlm-roberta", file.string());
  json["architectures"] = {"XLMRobertaModel"};
  json["add_pooling_layer"] = false;
  auto encoder =
      std::make_unique<model::Transformer>(family.read_config(json, file.string()), std::nullopt);
  checkpoint::load_weights(*encoder, family, PrefixedTensors(std::move(weights), kEncoderPrefix),
                           {DType::f32}, Compute::f32);
  return encoder;
}

}  // namespace

CometModel::CometModel(std::shared_ptr<const engine::LoadedComet> loaded)
    : loaded_(std::move(loaded)) {}

CometModel CometModel::load(const std::filesystem::path& path, const CometOptions& options) {
  return engine::with_system_errors([&] {
    const ExecutorScope scope(options.executor ? *options.executor : *Executor::shared());
    require(std::filesystem::exists(path / kCometSettingsFile),
            "{} is no directory of a COMET model: it has no {}", path.string(), kCometSettingsFile);
    const tasks::CometSettings settings = tasks::read_comet_settings(path / kCometSettingsFile);
    const std::filesystem::path files = encoder_directory(path, settings, options.hub);
    const auto weights = open_comet_weights(path);
    auto loaded = std::make_shared<engine::LoadedComet>();
    loaded->executor = options.executor;
    loaded->encoder = load_encoder(files, weights);
    const text::ModelTokenizer tokenizer = engine::read_tokenizer(files);
    loaded->scorer = std::make_unique<tasks::CometScorer>(
        *loaded->encoder, engine::shared_tokenizer(files, tokenizer, "COMET"), settings, *weights);
    return CometModel(std::move(loaded));
  });
}

bool CometModel::needs_reference() const { return loaded_->scorer->needs_reference(); }
bool CometModel::reads_reference() const { return loaded_->scorer->reads_reference(); }

std::vector<double> CometModel::score(const std::vector<CometSegment>& segments,
                                      bool with_references) const {
  const ExecutorScope scope(loaded_->executor ? *loaded_->executor : *Executor::shared());
  for (size_t i = 0; i < segments.size(); ++i)
    name_input("segment", static_cast<int64_t>(i) + 1, [&] {
      text::require_utf8(segments[i].source, "the source");
      text::require_utf8(segments[i].translation, "the translation");
      text::require_utf8(segments[i].reference, "the reference");
    });
  return loaded_->scorer->score(segments, with_references || needs_reference());
}

}  // namespace heed
