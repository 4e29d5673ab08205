#pragma once

#include "heed/train/tasks/task.h"

namespace heed::train {

/// The tasks of prepare_task(), whose arguments and errors these have.
std::unique_ptr<Task> make_causal_task(const TrainConfig& config,
                                       const std::filesystem::path& start, Observer& observer);
std::unique_ptr<Task> make_masked_task(const TrainConfig& config,
                                       const std::filesystem::path& start, Observer& observer);
std::unique_ptr<Task> make_chat_task(const TrainConfig& config, const std::filesystem::path& start,
                                     Observer& observer);
std::unique_ptr<Task> make_preference_task(const TrainConfig& config,
                                           const std::filesystem::path& start, Observer& observer);
std::unique_ptr<Task> make_labelled_task(const TrainConfig& config,
                                         const std::filesystem::path& start, Observer& observer);
std::unique_ptr<Task> make_embed_task(const TrainConfig& config, const std::filesystem::path& start,
                                      Observer& observer);

}  // namespace heed::train
