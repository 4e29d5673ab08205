#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "heed/tensor/dtype.h"

namespace heed::kernels::gpu {

/// The names of kernels that are instantiated by dtype (code/blocks/block_types.h): PREFIX_DTYPE.
class KernelNames {
 public:
  consteval explicit KernelNames(std::string_view prefix) {
    for (size_t i = 0; i < names_.size(); ++i) {
      char* const end = std::ranges::copy(prefix, names_[i].data()).out;
      *end = '_';
      std::ranges::copy(kStoredTypes[i].name, end + 1);
    }
  }
  /// Null-terminated.
  const char* of(DType dtype) const { return names_[static_cast<size_t>(dtype)].data(); }

 private:
  std::array<std::array<char, 40>, kStoredTypes.size()> names_{};
};

}  // namespace heed::kernels::gpu
