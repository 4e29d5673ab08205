#include "heed/kernels/embedding.h"

#include <vector>

#include "heed/kernels/gpu/code/rows/embedding.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void embedding_forward(const EmbeddingForward& in, Tensor& y) {
  if (y.elements() == 0) return;
  in.table.check_dtype(y.dtype());
  std::vector<int32_t> rows(in.tokens.begin(), in.tokens.end());  // one copy to the GPU for both
  if (in.position_table.defined())
    rows.insert(rows.end(), in.positions.begin(), in.positions.end());
  const Uploaded<int32_t> uploaded{std::span<const int32_t>(rows)};
  launch(by_dtype(y.dtype(), "embedding_f32", "embedding_bf16"),
         shape_of_row_columns(y.rows(), y.cols(), 16 / size_of(y.dtype())),
         EmbeddingArguments{uploaded.data(), uploaded.data() + in.tokens.size(), memory(in.table),
                            elements<float>(in.position_table), memory(y),
                            static_cast<int>(y.cols()), in.scale});
}

}  // namespace heed::kernels::gpu
