#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/detect/identifier.h"

namespace heed::detect {

/// Texts of one language, a line each.
struct LanguageTexts {
  std::string language;
  std::vector<std::string> texts;
};

struct TrainOptions {
  Shape shape;
  int64_t examples = 6'000'000;
  float learning_rate = 0.5f;  // of Adagrad; falls linearly to 0
  /// Of the n-grams of an example, those that are left out, at random.
  float dropout = 0.1f;
  uint64_t seed = 1;
};

/// Trains with cross-entropy on random parts of random texts, most of them short; languages come up
/// equally often. The same texts and options give the same bytes. Calls `progress` with the
/// examples seen and the mean loss since its last call.
Identifier train(const std::vector<LanguageTexts>& corpus, const TrainOptions& options,
                 const std::function<void(int64_t, double)>& progress);

}  // namespace heed::detect
