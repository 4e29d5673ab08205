#pragma once

#include <stdexcept>

#include "heed/export.h"

namespace heed {

/// The only exception type that heed throws by itself; std::bad_alloc passes through. what() is one
/// line: what is wrong, where, what was expected and what was found. Names from files and callers
/// in it are quoted, but may hold any byte.
class HEED_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heed
