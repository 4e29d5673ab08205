#pragma once

#include <filesystem>

#include "heed/model.h"
#include "tests/kernels/test_gpu.h"

namespace heed {

/// A model on the GPU of the tests, and the same on the CPU.
struct OnBoth {
  explicit OnBoth(const std::filesystem::path& path, const LoadOptions& options = {})
      : gpu(load(path, options, "gpu")), cpu(load(path, options, "cpu")) {}

  static Model load(const std::filesystem::path& path, LoadOptions options,
                    const std::string& device) {
    kernels::test_gpu();
    options.device = device;
    return Model::load(path, options);
  }

  Model gpu, cpu;
};

/// A folder of tests/golden/.
inline std::filesystem::path golden_folder(const std::string& name) {
  return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden" / name;
}

}  // namespace heed
