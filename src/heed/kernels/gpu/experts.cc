#include "heed/kernels/experts.h"

#include <vector>

#include "heed/kernels/gpu/code/rows/experts.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void combine_experts_forward(const ExpertOutputs& in, Tensor& y) {
  if (y.elements() == 0) return;
  std::vector<const void*> rows(in.experts.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor& output = in.outputs[static_cast<size_t>(in.experts[i])];
    output.check_dtype(y.dtype());
    rows[i] = memory(output) + in.rows[i] * output.row_bytes();
  }
  const Uploaded<const void*> uploaded{std::span<const void* const>(rows)};
  launch(by_dtype(y.dtype(), "combine_experts_f32", "combine_experts_bf16"),
         shape_of_row_columns(y.rows(), y.cols(), 16 / size_of(y.dtype())),
         CombineExpertsArguments{uploaded.data(), elements<float>(in.weights), memory(y),
                                 static_cast<int>(in.weights.cols()), static_cast<int>(y.cols())});
}

}  // namespace heed::kernels::gpu
