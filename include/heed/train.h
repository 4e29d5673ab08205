#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"

namespace heed {

/// The communication of a distributed run in a step: the weights of the step before and the
/// gradient of this one.
struct StepCommunication {
  double seconds = 0;        // in which messages were under way; the mean of the ranks
  double hidden = 0;         // the share of them in which a rank computed meanwhile, 0 to 1
  int64_t bytes = 0;         // that all ranks have sent
  int64_t slowest_rank = 0;  // which computed the longest
  double imbalance = 0;      // how much longer than the mean of the ranks: 0.1 for 10%
};

/// One optimizer step, as metrics.jsonl reports it.
struct StepRecord {
  int64_t step = 0, epoch = 0;   // counted from 1; from 0
  double seconds = 0;            // since the run began
  double loss = 0;               // label-smoothed cross entropy per target token, nats
  double gradient_norm = 0;      // before clipping
  double learning_rate = 0;      // of this step
  double tokens_per_second = 0;  // the decoder's, or the encoder's in encoder-only models
  bool skipped = false;          // as an outlier
  std::optional<StepCommunication> communication = {};  // if there are several ranks
};

/// A validation example and the model's output for it: the translation of a sentence, the
/// continuation of a prompt, or a text with its masked tokens filled in.
struct ValidationSample {
  std::string input, reference, output;  // of the model; what was expected; what it made
};

/// The scores of the translations from one language to another.
struct DirectionScores {
  std::string languages;      // "en-de", empty if they have no names
  double bleu = 0, chrf = 0;  // of these translations alone
};

/// The results of a validation.
struct ValidationRecord {
  int64_t step = 0, epoch = 0;              // counted from 1; from 0
  double seconds = 0;                       // since the run began
  double train_loss = 0;                    // mean since the last validation
  double loss = 0;                          // label-smoothed, per target token, nats
  double perplexity = 0;                    // of the true targets, without smoothing
  std::optional<double> bleu, chrf;         // where there are translations
  std::vector<DirectionScores> directions;  // of each corpus for validation, if there are several
  /// Of a task that gives labels or vectors, by name: "accuracy", "spearman", "ndcg@10", ...
  /// (docs/training_encoders.md). `perplexity` is then the exponential of the loss, or 1.
  std::map<std::string, double> metrics = {};
  std::string best_by = {};  // the one by which the best model is chosen; empty: score() says
  bool best = false;         // the best model of the run so far
  std::vector<ValidationSample> samples;  // a few

  /// The score by which the best model is chosen: a metric, BLEU if there are translations,
  /// otherwise 1 / perplexity, which is the geometric mean of the targets' probabilities.
  double score() const {
    const auto metric = metrics.find(best_by);
    return metric == metrics.end() ? bleu.value_or(1.0 / perplexity) : metric->second;
  }
};

/// What to train, and where. The configuration is made of a preset, then `config`, then
/// `assignments`: each overrides what comes before. `heed train --dump-config` and
/// training_config() show all keys. Relative paths in it are relative to the working directory.
struct TrainOptions {
  /// The directory of the run: the model, its checkpoints and the report. New or empty, or with
  /// `resume` that of an earlier run.
  std::filesystem::path out = {};
  /// "tiny", "small", "base", "big", "llama-tiny", "bert-tiny", "encoder-tiny", "t5-tiny",
  /// "fine-tune" or "lora".
  /// Empty: chosen by the task, by whether there is a model to start from, and for translation by
  /// the amount of text.
  std::string preset = {};
  /// TOML, as in configs/; and its name in messages.
  std::string config = {}, config_name = "the configuration";
  /// Each "section.key=value": "run.max_steps=100", "data.text=\"corpus.txt\"". The value is TOML
  /// or a bare word. A relative model.from here becomes absolute, so that the saved configuration
  /// works from any directory.
  std::vector<std::string> assignments = {};
  /// Continues the run in `out` from its last checkpoint, with its configuration. `preset`,
  /// `config` and `assignments` may then change only when the run ends, and its validations.
  bool resume = false;
  /// Trains together with the other processes that mpirun or srun has started with this one, if
  /// any. All get the same options; rank 0 alone calls back (but each asks `stop_requested`) and
  /// writes, and all read `out`. See docs/cluster.md.
  bool distributed = false;
  /// The threads that compute; without it, Executor::shared(). Results do not depend on it.
  std::shared_ptr<Executor> executor = {};
  /// How a model.from that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// Functions that are called during a run, on the calling thread; empty ones are not. An exception
/// of one of them ends the run as `stop_requested` does, and then reaches the caller.
struct TrainCallbacks {
  /// A line about the run: the configuration, what is read, learned and saved, warnings.
  std::function<void(std::string_view line)> on_log = {};
  /// After each step. `planned_steps` is 0 as long as it is not known.
  std::function<void(const StepRecord& step, int64_t planned_steps, double seconds_left)> on_step =
      {};
  /// After each validation, once its checkpoint is saved.
  std::function<void(const ValidationRecord& validation)> on_validation = {};
  /// Asked after each step. True saves a checkpoint and ends the run, which can be resumed.
  std::function<bool()> stop_requested = {};
};

/// The result of a run.
struct TrainResult {
  bool finished = false;              // false: it was stopped
  int rank = 0;                       // of this process in a distributed run
  std::filesystem::path model = {};   // the best model: a model directory, or with LoRA an adapter
  std::filesystem::path report = {};  // report.html; written by each validation
};

/// Trains a model, or an adapter of one, as `heed train` does. A resumed run ends with the same
/// bits as one that was never interrupted. Throws Error on a wrong configuration, on texts that are
/// missing or damaged, when `out` holds something else or is in use, when training diverges, and
/// when a file cannot be written; std::bad_alloc passes through. The last checkpoint in `out` stays
/// whole whatever happens.
HEED_EXPORT TrainResult train_model(const TrainOptions& options,
                                    const TrainCallbacks& callbacks = {});

/// The names of TrainOptions::preset.
HEED_EXPORT std::vector<std::string> training_presets();

/// Writes the mean in f32 of the weights in several files to another one, all .safetensors
/// (Vaswani et al. 2017, section 6.1). Throws Error unless all have tensors of the same names and
/// shapes, and when the file cannot be written.
HEED_EXPORT void average_weights(const std::vector<std::filesystem::path>& files,
                                 const std::filesystem::path& out);

/// The whole configuration that a new run with these options would have, as TOML with a comment on
/// each key. `out` is not used. Throws Error when it is wrong.
HEED_EXPORT std::string training_config(const TrainOptions& options);

/// The last checkpoint of a run.
struct LastCheckpoint {
  int64_t step = 0;    // after which it was saved
  int64_t leaves = 1;  // parts of a batch: so many ranks at most can continue the run
};

/// From where train_model() would resume the run in `out`; none before its first checkpoint. The
/// run may be under way. Throws Error when the checkpoint is damaged.
HEED_EXPORT std::optional<LastCheckpoint> last_checkpoint(const std::filesystem::path& out);

/// Completes what a run that was killed has begun to save in `out`, as resuming it does. Throws
/// Error while a process trains there.
HEED_EXPORT void finish_killed_run(const std::filesystem::path& out);

}  // namespace heed
