#include "heed/devices.h"

#include <limits>

#include "heed/base/error.h"
#include "heed/gpu/gpu.h"
#include "heed/kernels/gpu/open.h"

namespace heed {
namespace {

/// Whether heed's kernels run on a GPU shows when they are loaded. With more memory than there is,
/// it does not stay open.
void try_gpu(DeviceInfo& info) {
  try {
    info.free_bytes = static_cast<int64_t>(
        kernels::open_gpu_with(info.ordinal, std::numeric_limits<size_t>::max()).free_bytes);
  } catch (const Error& error) {
    info.problem = error.what();
  }
}

}  // namespace

Devices devices() {
  Devices all;
  try {
    for (const gpu::GpuProperties& one : gpu::gpus()) {
      all.gpus.push_back({.ordinal = one.ordinal,
                          .name = one.name,
                          .major = one.major,
                          .minor = one.minor,
                          .memory_bytes = static_cast<int64_t>(one.memory_bytes)});
      try_gpu(all.gpus.back());
    }
    if (all.gpus.empty()) all.missing = "the driver finds no GPU";
  } catch (const Error& error) {
    all = {.missing = error.what()};
  }
  // Then a driver would not help.
  if (all.gpus.empty() && !kernels::has_gpu_kernels()) all.missing = gpu::kNoKernels;
  return all;
}

}  // namespace heed
