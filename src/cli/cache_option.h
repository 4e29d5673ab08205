#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "heed/tensor/dtype.h"

namespace heed::cli {

/// Adds --cache: what keys and values are kept in.
CLI::Option* add_cache_option(CLI::App& app, std::optional<DType>& dtype);

}  // namespace heed::cli
