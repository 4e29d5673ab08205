#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::train {

/// One optimizer step, as metrics.jsonl and the progress line report it.
struct StepRecord {
  int64_t step = 0, epoch = 0;
  double seconds = 0;        // since the run began
  double loss = 0;           // label-smoothed cross entropy per target token, nats
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  double tokens_per_second = 0;  // the decoder's, or the encoder's in encoder-only models
  bool skipped = false;          // as an outlier
};

/// A validation example and the model's output for it: the translation of a sentence, the
/// continuation of a prompt, or a text with its masked tokens filled in.
struct Sample {
  std::string input, reference, output;
};

/// What the parts of a sample are called in metrics.jsonl and reports; depends on the task.
struct SampleNames {
  std::string input, reference, output;
};

/// The results of a validation.
struct ValidationRecord {
  int64_t step = 0, epoch = 0;
  double seconds = 0;                // since the run began
  double train_loss = 0;             // mean since the last validation
  double loss = 0;                   // label-smoothed, per target token, nats
  double perplexity = 0;             // of the true targets, without smoothing
  std::optional<double> bleu, chrf;  // where there are translations
  bool best = false;
  std::vector<Sample> samples;

  /// The score by which the best model is chosen: BLEU if there are translations, otherwise
  /// 1 / perplexity, which is the geometric mean of the targets' probabilities.
  double score() const { return bleu.value_or(1.0 / perplexity); }
};

}  // namespace heed::train
