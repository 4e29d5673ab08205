#include "heed/kernels/sigmoid.h"

#include "heed/kernels/gpu/code/elements/sigmoid.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

void sigmoid(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  launch("sigmoid_f32", {.x = blocks_for(x.elements(), 256)},
         SigmoidArguments{elements<float>(x), elements<float>(y), x.elements()});
}

void sigmoid_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  if (y.elements() == 0) return;
  launch("sigmoid_backward_f32", {.x = blocks_for(y.elements(), 256)},
         SigmoidBackwardArguments{elements<float>(y), elements<float>(dy), elements<float>(dx),
                                  y.elements()});
}

}  // namespace heed::kernels::gpu
