#pragma once

#include <iostream>

#include "heed/base/error.h"

namespace heed::cli {

/// Flushes standard output. Throws Error when it cannot be written.
inline void flush_output() {
  std::cout.flush();
  require(std::cout.good(), "standard output cannot be written");
}

}  // namespace heed::cli
