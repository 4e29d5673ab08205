#pragma once

#include <cstdint>
#include <memory>

#include "heed/engine/loaded_model.h"
#include "heed/generate/speculation/drafter.h"

namespace heed::engine {

/// Loads the draft model that LoadOptions::speculation names, if any. Throws Error as
/// load_transformer() does, on a model with an encoder, and when the tokenizers of the two models
/// differ.
void prepare_speculation(LoadedModel& model);

/// A drafter for a scheduler of the model; null if it was loaded without speculation. The model
/// must outlive it. `max_cached_tokens`: as in SchedulerOptions.
std::shared_ptr<generate::Drafter> make_drafter(const LoadedModel& model,
                                                int64_t max_cached_tokens = 0);

}  // namespace heed::engine
