#pragma once

#include <string>

#include "heed/model.h"

namespace heed::cli {

/// Throws Error, which says what the model can do instead, when it is not of a kind that does
/// `task`. What is missing of a suitable model, such as its tokenizer, is said by the task itself.
void require_task(const Model& model, const std::string& name, bool ModelTasks::*task);

}  // namespace heed::cli
