#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::train {

/// What a step of training was like.
struct StepRecord {
  int64_t step = 0, epoch = 0;
  double seconds = 0;        // since the run began
  double loss = 0;           // label-smoothed cross entropy per target token, nats
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  double tokens_per_second = 0;  // of the decoder, or of an encoder alone
  double share_of_peak = 0;      // arithmetic done / what the machine can do at most
  bool skipped = false;          // an outlier
};

/// What a model makes of a validation example: of a sentence its translation, of a beginning its
/// continuation, of a text with gaps the words in them.
struct Sample {
  std::string input, reference, output;
};

/// What a task calls the three parts of a sample.
struct SampleNames {
  std::string input, reference, output;
};

/// What a validation found.
struct ValidationRecord {
  int64_t step = 0, epoch = 0;
  double seconds = 0;                // since the run began
  double train_loss = 0;             // mean since the last validation
  double loss = 0;                   // label-smoothed, per target token, nats
  double perplexity = 0;             // of the true targets, without smoothing
  std::optional<double> bleu, chrf;  // where there are translations
  bool best = false;
  std::vector<Sample> samples;

  /// What the best model has the most of: BLEU, or else the probability of a token (the geometric
  /// mean, one over the perplexity).
  double score() const { return bleu.value_or(1.0 / perplexity); }
};

}  // namespace heed::train
