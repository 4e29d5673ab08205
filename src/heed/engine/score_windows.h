#pragma once

#include <string_view>
#include <vector>

#include "heed/engine/loaded_model.h"
#include "heed/score.h"

namespace heed::engine {

/// Part of a text that is scored by itself, on any rank (tasks::score_windows()).
struct TextWindow {
  std::vector<int32_t> tokens;
  int64_t scored = 0;  // the last of the tokens
};

/// The windows of a text. Throws Error as Model::score() does.
std::vector<TextWindow> windows_of(const LoadedModel& model, std::string_view text,
                                   const ScoreOptions& options);

/// The log-probabilities of the last `scored` tokens of a window.
std::vector<double> score(const LoadedModel& model, const TextWindow& window);

}  // namespace heed::engine
