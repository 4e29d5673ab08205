#pragma once

#include "heed/tensor/device.h"

namespace heed::kernels {

/// A GPU of this machine with heed's kernels. It is opened once and lives as long as the process.
/// Throws Error as gpu::Gpu does.
Device& open_gpu(int ordinal);

}  // namespace heed::kernels
