#include "heed/kernels/gpu/open.h"

#include <map>
#include <mutex>

#include "heed/gpu/gpu.h"

namespace heed::kernels {

namespace gpu {
extern const std::vector<std::span<const std::byte>> kernel_images;  // cmake/HeedGpuKernels.cmake
}

Device& open_gpu(int ordinal) {
  static std::mutex mutex;
  static auto* const open = new std::map<int, heed::gpu::Gpu*>;
  const std::lock_guard lock(mutex);
  heed::gpu::Gpu*& found = (*open)[ordinal];
  if (!found) found = new heed::gpu::Gpu(ordinal, gpu::kernel_images);
  return *found;
}

}  // namespace heed::kernels
