#include "heed/kernels/soft_cap.h"

#include "heed/kernels/gpu/code/elements/soft_cap.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void soft_cap(float cap, Tensor& x) {
  if (x.elements() == 0) return;
  launch("soft_cap_f32", shape_of_elements(x.elements(), {x.dtype()}),
         SoftCapArguments{elements<float>(x), x.elements(), cap});
}

}  // namespace heed::kernels::gpu
