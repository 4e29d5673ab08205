#pragma once

#include <filesystem>
#include <vector>

#include "heed/data/example_file.h"
#include "heed/data/pair_filter.h"
#include "heed/train/tasks/pair_encoder.h"
#include "heed/train/tasks/training_pairs.h"

namespace heed::train {

/// The tokens of training pairs, without those that a filter has dropped.
struct StoredText {
  data::ExampleFile examples;
  std::vector<int64_t> sizes;        // examples of each corpus
  int64_t usual_longest_source = 0;  // tokens that one in a thousand sources exceeds
};

/// What is asked of the tokens of a pair.
struct TokenLimits {
  data::LengthLimits lengths;
  double drop_least_aligned = 0;  // the share of each corpus
};

/// Encodes all pairs, each with the encoder of its corpus, to files in `directory`. The pairs that
/// are kept or dropped are added to the reports of their corpora. Throws Error as PairEncoder and
/// data::ExampleFile do.
StoredText store_text(const TrainingPairs& pairs, const std::vector<PairEncoder>& encoders,
                      const TokenLimits& limits, const std::filesystem::path& directory,
                      std::vector<data::FilterReport>& reports);

}  // namespace heed::train
