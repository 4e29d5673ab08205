#include "heed/kernels/gpu/code/rows/experts_backward.h"

#include <vector>

#include "heed/kernels/experts.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void combine_experts_backward(const ExpertOutputs& in, const Tensor& dy,
                              ExpertGradients gradients) {
  constexpr unsigned kThreads = 128;
  if (in.experts.empty()) return;
  std::vector<ExpertRow> rows;
  rows.reserve(in.experts.size());
  for (size_t i = 0; i < in.experts.size(); ++i) {
    const auto expert = static_cast<size_t>(in.experts[i]);
    const int64_t at = in.rows[i] * dy.row_bytes();
    rows.push_back({memory(in.outputs[expert]) + at, memory(gradients.d_outputs[expert]) + at});
  }
  const Uploaded<ExpertRow> uploaded(rows);
  launch(
      by_dtype(dy.dtype(), "experts_backward_f32", "experts_backward_bf16"),
      {.x = static_cast<unsigned>(rows.size()),
       .threads = kThreads,
       .shared_bytes = kThreads / 32 * sizeof(float)},
      ExpertsBackwardArguments{uploaded.data(), memory(dy), elements<float>(in.weights),
                               elements<float>(gradients.d_weights),
                               static_cast<int>(in.weights.cols()), static_cast<int>(dy.cols())});
}

}  // namespace heed::kernels::gpu
