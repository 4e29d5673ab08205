#include "heed/train/config/config.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

int64_t DistributedConfig::microbatches_on(int ranks) const {
  if (leaves > 0) return leaves;
  return ranks == 1 ? 1 : std::max<int64_t>(8, std::bit_ceil(static_cast<uint64_t>(ranks)));
}

Schedule OptimizerConfig::schedule(int64_t last_step) const {
  Schedule schedule{lr_scheduler_type, learning_rate, warmup_steps, last_step, min_lr_rate};
  if (warmup_ratio > 0)
    // Until the last step is known, a step is far from the end of the warmup.
    schedule.warmup = last_step > 0 ? std::llround(warmup_ratio * static_cast<double>(last_step))
                                    : std::numeric_limits<int64_t>::max();
  return schedule;
}

int64_t TrainConfig::window_tokens() const {
  return run.context > 0 ? run.context : std::min(model.max_positions, run.token_budget);
}

}  // namespace heed::train
