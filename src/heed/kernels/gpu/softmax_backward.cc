#include "heed/kernels/gpu/code/reductions/softmax_backward.h"

#include "heed/kernels/gpu/launch_elements.h"
#include "heed/kernels/softmax.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kSoftmaxBackwardThreads = 256;

}  // namespace

void softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  if (y.elements() == 0) return;
  launch(by_dtype(y.dtype(), "softmax_backward_f32", "softmax_backward_bf16"),
         {.x = static_cast<unsigned>(y.rows()),
          .threads = kSoftmaxBackwardThreads,
          .shared_bytes = kSoftmaxBackwardThreads / 32 * sizeof(float)},
         SoftmaxBackwardArguments{memory(y), memory(dy), memory(dx), static_cast<int>(y.cols())});
}

}  // namespace heed::kernels::gpu
