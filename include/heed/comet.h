#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"

namespace heed::engine {
struct LoadedComet;
}

namespace heed {

/// A translation beside what it is judged by; all UTF-8.
struct CometSegment {
  std::string source, translation, reference;  // the last is empty where there is none
};

/// How a COMET model is loaded.
struct CometOptions {
  HubOptions hub;                      // where its encoder's configuration is looked up
  std::shared_ptr<Executor> executor;  // that it computes on; null: Executor::shared()
};

/// A COMET model (Rei et al., 2020, 2022): an XLM-R encoder whose layers are mixed and pooled, and
/// a feed-forward estimator of the quality of a translation. Computes on the CPU in f32. A handle:
/// copies share the model, and all members may be called by several threads at once.
class HEED_EXPORT CometModel {
 public:
  /// Opens the directory of a model of unbabel-comet: hparams.yaml, and the weights in
  /// checkpoints/model.ckpt, or in model.safetensors under the same names. config.json and the
  /// tokenizer of the encoder are those of the directory, else those of the model that hparams.yaml
  /// names (pretrained_model), by resolve_model(). Regression models with and without reference and
  /// unified ones (CometKiwi) are read. Throws Error, naming the file, when one is missing or
  /// damaged, or asks for something that heed does not apply.
  static CometModel load(const std::filesystem::path& path, const CometOptions& options = {});

  /// Whether score() needs references.
  bool needs_reference() const;
  /// Whether it uses them if there are any.
  bool reads_reference() const;

  /// The score of each segment, in order, as unbabel-comet's predict() computes it in f32. Texts
  /// beyond the encoder's context lose their end. `with_references`: they are read where the model
  /// reads them; a model that needs_reference() always reads them. A score does not depend on the
  /// other segments. Throws Error, naming the segment from 1, when a text is not valid UTF-8, and
  /// when the model's output is not finite.
  std::vector<double> score(const std::vector<CometSegment>& segments,
                            bool with_references = true) const;

 private:
  explicit CometModel(std::shared_ptr<const engine::LoadedComet> loaded);

  std::shared_ptr<const engine::LoadedComet> loaded_;
};

}  // namespace heed
