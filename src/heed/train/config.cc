#include "heed/train/config.h"

#include <algorithm>

namespace heed::train {

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::translation:
      return "translation";
    case TaskKind::text_to_text:
      return "text-to-text";
    case TaskKind::causal_lm:
      return "causal-lm";
    case TaskKind::masked_lm:
      return "masked-lm";
    case TaskKind::chat:
      return "chat";
    case TaskKind::preference:
      return "preference";
  }
  return "?";
}

bool reads_pairs(TaskKind kind) {
  return kind == TaskKind::translation || kind == TaskKind::text_to_text;
}

int64_t TrainConfig::window_tokens() const {
  return run.context > 0 ? run.context : std::min(model.max_positions, run.token_budget);
}

}  // namespace heed::train
