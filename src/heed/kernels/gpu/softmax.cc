#include "heed/kernels/softmax.h"

#include "heed/kernels/gpu/code/softmax.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kSoftmaxThreads = 256;

}  // namespace

void softmax_forward(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  launch(x.dtype() == DType::f32 ? "softmax_f32" : "softmax_bf16",
         {.x = static_cast<unsigned>(x.rows()),
          .threads = kSoftmaxThreads,
          .shared_bytes = kSoftmaxThreads / 32 * sizeof(float)},
         SoftmaxArguments{memory(x), memory(y), static_cast<int>(x.cols())});
}

}  // namespace heed::kernels::gpu
