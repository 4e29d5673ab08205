#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/serve/services.h"

namespace heed::serve {

/// Receives the labels of each input, highest score first, and the tokens that were read, on the
/// compute thread.
using OnClassified =
    std::function<void(const std::vector<std::vector<LabelScore>>& labels, int64_t tokens)>;

/// Classifies texts or pairs of texts, which `field` names in errors; those that are too long are
/// cut if `truncate`. Throws ApiError when the model cannot classify, when an input is too long,
/// and as Call::enqueue().
void classify(const ModelCall& call, std::vector<ClassifyInput> inputs, bool truncate,
              const std::string& field, OnClassified done);

}  // namespace heed::serve
