#pragma once

#include <cstdint>
#include <memory>

#include "heed/engine/loaded_model.h"
#include "heed/generate/speculation/drafter.h"

namespace heed::engine {

/// Does what LoadOptions::speculation says. Throws Error as load_transformer() does for a draft
/// model, on a model with an encoder, and when the two models' tokenizers differ.
void prepare_speculation(LoadedModel& model);

/// What drafts for a scheduler of the model; null if it was loaded without. The model must outlive
/// it. `max_cached_tokens`: as in SchedulerOptions.
std::shared_ptr<generate::Drafter> make_drafter(const LoadedModel& model,
                                                int64_t max_cached_tokens = 0);

}  // namespace heed::engine
