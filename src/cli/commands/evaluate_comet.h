#pragma once

#include "cli/options/command.h"

namespace heed::cli {

/// Adds heed evaluate comet.
void add_evaluate_comet(Command& evaluate);

}  // namespace heed::cli
