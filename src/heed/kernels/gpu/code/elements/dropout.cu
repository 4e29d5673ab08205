#include "heed/kernels/gpu/code/elements/dropout.h"

#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/code/elements/elements.h"

namespace heed::kernels::gpu {
namespace {

template <typename T>
HEED_DEVICE void add_dropped(const DropoutArguments& in) {
  const T *const x = static_cast<const T*>(in.x), *const other = static_cast<const T*>(in.residual);
  T* const y = static_cast<T*>(in.y);
  const auto dropped = [&](float value, int64_t i) {
    if (in.threshold == 0) return value;
    return counter_hash(in.key, static_cast<uint64_t>(i)) < in.threshold ? 0.0f : value * in.scale;
  };
  if (other)
    map_elements(in.count, y, x, other,
                 [&](float a, float b, int64_t i) { return dropped(a, i) + b; });
  else
    map_elements(in.count, y, x, dropped);
}

}  // namespace

HEED_GPU_KERNEL(dropout_add_f32, DropoutArguments, in) { add_dropped<float>(in); }
HEED_GPU_KERNEL(dropout_add_bf16, DropoutArguments, in) { add_dropped<Bf16>(in); }

}  // namespace heed::kernels::gpu
