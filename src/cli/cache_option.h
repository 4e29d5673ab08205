#pragma once

#include <optional>

#include "cli/options.h"
#include "heed/tensor/dtype.h"

namespace heed::cli {

/// Adds --cache, the type of the kv cache.
Option add_cache_option(Command& command, std::optional<DType>& dtype);

}  // namespace heed::cli
