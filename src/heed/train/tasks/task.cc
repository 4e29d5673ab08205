#include "heed/train/tasks/task.h"

#include "heed/base/error.h"
#include "heed/train/tasks/causal_task.h"
#include "heed/train/tasks/masked_task.h"
#include "heed/train/tasks/pairs_task.h"

namespace heed::train {

std::unique_ptr<Task> prepare_task(const TrainConfig& config, const std::filesystem::path& start,
                                   const Log& log) {
  config.validate();
  switch (config.run.task) {
    case TaskKind::translation:
    case TaskKind::text_to_text:
      return std::make_unique<PairsTask>(config, start, log);
    case TaskKind::causal_lm:
      return std::make_unique<CausalTask>(config, start, log);
    case TaskKind::masked_lm:
      return std::make_unique<MaskedTask>(config, start, log);
  }
  fail("the task is unknown");
}

}  // namespace heed::train
