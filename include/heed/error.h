#pragma once

#include <stdexcept>

#include "heed/export.h"

namespace heed {

/// What heed throws when something is wrong. std::bad_alloc passes through, and a call that was
/// interrupted throws Interrupted. what() is one line: what is wrong, where, what was expected and
/// what was found. Names from files and callers in it are quoted, but may hold any byte.
class HEED_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heed
