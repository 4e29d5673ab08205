#pragma once

#include "heed/server.h"

namespace heed::serve {

/// Throws Error, which names the option, when one is out of range. Models are checked when they are
/// loaded.
void check_options(const ServerOptions& options);

}  // namespace heed::serve
