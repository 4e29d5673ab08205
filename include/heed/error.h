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

/// An Error whose cause is what a call was given: a text, tokens, messages, an option of the call.
/// Whoever asked can mend it. Any other Error is of the model, its files, the options it was loaded
/// with, or the system.
class HEED_EXPORT InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace heed
