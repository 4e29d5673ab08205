#pragma once

#include <cstdint>

#include "heed/tensor/dtype.h"

namespace heed::kernels::reference {

/// Element `i` of a row of any stored type (see BlockTraits).
template <typename T>
float stored_element(const T* row, int64_t i) {
  if constexpr (is_plain(dtype_of<T>)) {
    return static_cast<float>(row[i]);
  } else {
    const T& block = row[i / T::kElements];
    const int64_t at = i % T::kElements;
    float scale = scale_of(block);
    if constexpr (T::kTraits.has_sub_scales()) scale *= static_cast<float>(block.sub_scale(at));
    const float value = scale * static_cast<float>(quant_of(block, at));
    if constexpr (T::kTraits.has_minimum) return value + minimum_of(block, at);
    return value;
  }
}

}  // namespace heed::kernels::reference
