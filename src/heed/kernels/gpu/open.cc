#include "heed/kernels/gpu/open.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "heed/gpu/gpu.h"

namespace heed::kernels {

namespace gpu {
extern const std::vector<std::span<const std::byte>> kernel_images;  // cmake/HeedGpuKernels.cmake
}

GpuWithMemory open_gpu_with(int ordinal, size_t bytes) {
  static std::mutex mutex;
  static auto* const open = new std::map<int, std::unique_ptr<heed::gpu::Gpu>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<heed::gpu::Gpu> opened;
  std::unique_ptr<heed::gpu::Gpu>& found = (*open)[ordinal];
  if (!found) opened = std::make_unique<heed::gpu::Gpu>(ordinal, gpu::kernel_images);
  const size_t free_bytes = (found ? found : opened)->free_bytes();
  if (free_bytes < bytes) return {nullptr, free_bytes};
  if (!found) found = std::move(opened);
  return {found.get(), free_bytes};
}

Device& open_gpu(int ordinal) { return *open_gpu_with(ordinal, 0).device; }

bool has_gpu_kernels() {
  return std::ranges::any_of(gpu::kernel_images, [](const auto& image) { return !image.empty(); });
}

}  // namespace heed::kernels
