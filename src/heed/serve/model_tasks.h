#pragma once

#include <string>
#include <vector>

#include "heed/model_tasks.h"

namespace heed::serve {

/// The names of what a model can be asked to do by a route, as GET /v1/models lists them.
std::vector<std::string> names_of(const ModelTasks& tasks);

}  // namespace heed::serve
