#pragma once

#include "cli/options/command.h"

namespace heed::cli {

/// Adds `heed evaluate confidence`.
void add_evaluate_confidence(Command& evaluate);

}  // namespace heed::cli
