#pragma once

#include <cstdlib>

#include "heed/kernels/gpu/open.h"

namespace heed::kernels {

/// The GPU of the tests: a simulated one (src/gpu_simulator), of another driver if HEED_CUDA_DRIVER
/// is set, unless HEED_TEST_GPU is set. A process opens one driver, so that a program has either
/// this one or others.
inline Device& test_gpu() {
  if (!std::getenv("HEED_TEST_GPU")) {
    ::setenv("HEED_CUDA_DRIVER", HEED_SIMULATED_KERNELS, 0);
    ::setenv("HEED_SIMULATED_GPU", "seed=1,memory=1024", 0);
  }
  return open_gpu(0);
}

}  // namespace heed::kernels
