#pragma once

#include <filesystem>

namespace heed::tasks {

/// SPLADE (Formal et al. 2021): the weight of each token of the vocabulary is log(1 + max(0, x)) of
/// its logits x, pooled over the tokens of a text.
struct SpladeSettings {
  bool sum = false;        // pooled by their sum, not by the largest
  bool log_twice = false;  // log(1 + log(1 + max(0, x))) (Geng et al. 2025)
};

/// The settings of a SpladePooling. Throws Error, naming file and key, on those that heed does not
/// apply.
SpladeSettings read_splade_settings(const std::filesystem::path& folder);

}  // namespace heed::tasks
