#pragma once

#include <cstddef>
#include <string>

#include "heed/tensor/device.h"

namespace heed::kernels {

/// A GPU of this machine with heed's kernels. It is opened once and lives as long as the process.
/// Throws Error as gpu::Gpu does.
Device& open_gpu(int ordinal);

/// A GPU if enough of its memory is free for this process.
struct GpuWithMemory {
  Device* device;     // null if it is not
  size_t free_bytes;  // of its memory
};

/// open_gpu(), unless fewer than `bytes` are free: then a GPU that was not open is closed again.
GpuWithMemory open_gpu_with(int ordinal, size_t bytes);

/// Whether heed was built with kernels for GPUs, by nvcc.
bool has_gpu_kernels();

}  // namespace heed::kernels
