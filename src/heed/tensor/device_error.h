#pragma once

#include "heed/error.h"

namespace heed {

/// A device has no room for what was asked of it. Everything else there goes on: the same work may
/// succeed later, or with fewer tokens at a time.
class DeviceMemoryError : public Error {
 public:
  using Error::Error;
};

/// A device cannot be used any more in this process, nor what is in its memory.
class DeviceLostError : public Error {
 public:
  using Error::Error;
};

}  // namespace heed
