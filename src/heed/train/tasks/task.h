#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/data/dataset.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/train/config.h"
#include "heed/train/events.h"
#include "heed/train/training_state.h"

namespace heed::train {

/// Receives one line about what is being prepared.
using Log = std::function<void(const std::string&)>;

/// What a run learns to do: its examples, and how a model is evaluated besides its loss. All else
/// about a run is the Trainer's.
class Task {
 public:
  virtual ~Task() = default;

  /// The configuration of the model, with what the vocabulary decides about it.
  const model::ModelConfig& model() const { return model_; }
  const data::Dataset& train() const { return *train_; }
  const data::Dataset& valid() const { return *valid_; }
  const DataFingerprint& fingerprint() const { return fingerprint_; }

  /// The tokenizer's files, to lie beside the weights.
  virtual std::vector<checkpoint::NamedFile> files() const = 0;
  /// A token as its piece; empty where the tokenizer has none.
  virtual std::string piece(int32_t token) const = 0;
  /// What the parts of a sample are called.
  virtual SampleNames sample_names() const = 0;
  /// Adds scores and samples to a record that has the loss. The model's weights are packed for
  /// `compute`.
  virtual void evaluate(const model::Transformer& model, Compute compute,
                        ValidationRecord& record) const = 0;
  /// What attention between a sample's parts is drawn with; null where there is no such thing.
  virtual const text::TranslationTokenizer* translation_tokenizer() const { return nullptr; }

 protected:
  explicit Task(model::ModelConfig model) : model_(std::move(model)) {}

  model::ModelConfig model_;
  std::unique_ptr<const data::Dataset> train_, valid_;
  DataFingerprint fingerprint_;
};

/// Prepares what `config` asks for: reads text, learns a vocabulary (or takes that of the model
/// directory `start`, when given: a checkpoint of this run, or the model that is fine-tuned), turns
/// text into tokens, sets some aside for validation. Throws Error on a configuration that no run
/// can have, on text that cannot be used (missing, empty, not UTF-8, nothing left) and on a
/// tokenizer that does not fit the model.
std::unique_ptr<Task> prepare_task(const TrainConfig& config, const std::filesystem::path& start,
                                   const Log& log);

}  // namespace heed::train
