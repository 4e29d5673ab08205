#include "heed/kernels/cross_entropy.h"

#include <algorithm>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/reductions/cross_entropy.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

void cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                   CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  constexpr int64_t kMostThreads = 512, kColumnsOfThread = 4;
  if (logits.elements() == 0) return;
  const Uploaded<int32_t> classes(targets);
  // By the number of columns alone, and so is the order of the sums.
  const auto threads = static_cast<unsigned>(
      std::min(kMostThreads, round_up(ceil_div(logits.cols(), kColumnsOfThread), 32)));
  const bool f32 = !d_logits.defined() || d_logits.dtype() == DType::f32;
  launch(f32 ? "cross_entropy_f32" : "cross_entropy_bf16",
         {.x = static_cast<unsigned>(logits.rows()),
          .threads = threads,
          .shared_bytes = threads / 32 * sizeof(float)},
         CrossEntropyArguments{elements<float>(logits), classes.data(), elements<float>(losses),
                               memory(d_logits), static_cast<int>(logits.cols()),
                               options.label_smoothing, options.gradient_scale, options.soft_cap});
}

}  // namespace heed::kernels::gpu
