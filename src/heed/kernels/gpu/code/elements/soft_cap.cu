#include "heed/kernels/gpu/code/elements/soft_cap.h"

#include "heed/kernels/gpu/code/elements/elements.h"

namespace heed::kernels::gpu {

HEED_GPU_KERNEL(soft_cap_f32, SoftCapArguments, in) {
  const float inverse = 1.0f / in.cap;
  map_elements(in.count, in.x, static_cast<const float*>(in.x),
               [&](float x, int64_t) { return in.cap * tanhf(x * inverse); });
}

}  // namespace heed::kernels::gpu
