#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/data/dataset.h"
#include "heed/distribute/group.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/train/checkpoints/dense_modules.h"
#include "heed/train/checkpoints/run_directory.h"
#include "heed/train/checkpoints/training_state.h"
#include "heed/train/config/config.h"
#include "heed/train/observer.h"

namespace heed::train {

/// What a model is trained for: its examples, and how it is evaluated besides its loss. The Trainer
/// is the same for all tasks.
class Task {
 public:
  virtual ~Task() = default;

  /// The configuration of the model, including the size and special tokens of the vocabulary.
  const model::ModelConfig& model() const { return model_; }
  const data::Dataset& train() const { return *train_; }
  const data::Dataset& valid() const { return *valid_; }
  const DataFingerprint& fingerprint() const { return fingerprint_; }

  /// The tokenizer's files, which are saved beside the weights.
  virtual std::vector<checkpoint::NamedFile> files() const = 0;
  /// The piece of a token; empty if the tokenizer has none.
  virtual std::string piece(int32_t token) const = 0;
  /// What was left out of the training text and why, as JSON; empty if the task filters nothing.
  virtual std::string filter_report() const { return ""; }
  virtual SampleNames sample_names() const = 0;
  /// Whether the examples of a batch are to have any lengths: those that are compared with each
  /// other, which lengths would tell apart.
  virtual bool mixes_lengths() const { return false; }
  /// The Dense modules that map the vectors of texts or tokens.
  virtual std::vector<DenseModule> dense_modules() const { return {}; }
  /// Adds scores and samples to a record that has the loss. The model's weights must be packed for
  /// `compute`. Collective: each rank of the group runs the model on its share, and all get what
  /// one process would.
  virtual void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                        ValidationRecord& record) const = 0;
  /// Files on the weights that evaluate() has run last, to be saved beside them.
  virtual std::vector<checkpoint::NamedFile> evaluated_files() const { return {}; }
  /// The tokenizer for drawing cross-attention between the parts of a sample; null if there is
  /// none.
  virtual const text::TranslationTokenizer* translation_tokenizer() const { return nullptr; }

 protected:
  explicit Task(model::ModelConfig model) : model_(std::move(model)) {}

  model::ModelConfig model_;
  std::unique_ptr<const data::Dataset> train_, valid_;
  DataFingerprint fingerprint_;
};

/// Throws Error unless `config` names training text, and every text that it names can be read.
void check_text_files(const TrainConfig& config);

/// The directory from which a run takes its vocabulary: its checkpoint if it is resumed, or the
/// model to fine-tune; empty if it learns one. The vocabulary of an adapter is its model's.
std::filesystem::path vocabulary_source(const TrainConfig& config, const RunDirectory& run);

/// Prepares the task of `config`: reads the text, learns a vocabulary, tokenizes, and holds out
/// validation examples. If `start` is not empty, takes the vocabulary from that model directory: a
/// checkpoint of this run, or the model to fine-tune. Throws Error on an invalid configuration, on
/// text that is missing, empty, not UTF-8 or entirely filtered out, and on a tokenizer that does
/// not fit the model. Tokens of parallel text are kept in files without names in `scratch`, a
/// directory (empty: the system's for temporary files).
std::unique_ptr<Task> prepare_task(const TrainConfig& config, const std::filesystem::path& start,
                                   Observer& observer, const std::filesystem::path& scratch = {});

}  // namespace heed::train
