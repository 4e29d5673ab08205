#pragma once

#include <string>
#include <vector>

#include "heed/classification.h"
#include "heed/engine/loaded_model.h"

namespace heed::engine {

/// How well each document answers a query, in their order; see Model::rerank(). Errors number the
/// documents from `first_number`. Throws Error as Model::rerank() does, also without documents.
std::vector<double> document_scores(const LoadedModel& model, const std::string& query,
                                    const std::vector<std::string>& documents,
                                    const ClassifyOptions& options, int64_t first_number = 1);

}  // namespace heed::engine
