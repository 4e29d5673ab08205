#pragma once

#include <cstdint>
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
  double tokens_per_second = 0;  // target tokens
  double share_of_peak = 0;      // arithmetic done / what the machine's matrix products can do
  bool skipped = false;          // an outlier
};

struct SampleTranslation {
  std::string source, reference, translation;
};

/// What a validation found.
struct ValidationRecord {
  int64_t step = 0, epoch = 0;
  double seconds = 0;     // since the run began
  double train_loss = 0;  // mean since the last validation
  double loss = 0;        // label-smoothed, per target token, nats
  double perplexity = 0;  // of the true targets, without smoothing
  double bleu = 0, chrf = 0;
  bool best = false;
  std::vector<SampleTranslation> samples;
};

}  // namespace heed::train
