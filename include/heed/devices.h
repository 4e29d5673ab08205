#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/export.h"

namespace heed {

/// A GPU of this machine.
struct DeviceInfo {
  int ordinal = 0;           // N of LoadOptions::device "gpu:N"
  std::string name = {};     // "NVIDIA H100 80GB HBM3"
  int major = 0, minor = 0;  // compute capability, 9.0
  int64_t memory_bytes = 0;  // of the GPU's memory
  int64_t free_bytes = 0;    // of these, for this process; 0 if there is a problem
  std::string problem = {};  // why heed cannot compute on it, in one line; empty if it can
};

/// The GPUs of this machine.
struct Devices {
  std::vector<DeviceInfo> gpus = {};  // in the order of their ordinals
  std::string missing = {};           // why there are none, in one line; empty if there are
};

/// Asks the driver, and opens each GPU for a moment, which may take a second: whether heed's
/// kernels run on it shows when they are loaded. What is open stays open, and nothing else does.
HEED_EXPORT Devices devices();

}  // namespace heed
