#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "heed/tensor/dtype.h"

namespace heed::cli {

/// Adds --cache, the type of the kv cache.
CLI::Option* add_cache_option(CLI::App& app, std::optional<DType>& dtype);

}  // namespace heed::cli
