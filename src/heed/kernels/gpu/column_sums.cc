#include "heed/kernels/column_sums.h"

#include "heed/kernels/gpu/code/reductions/column_sums.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void column_sums(const Tensor& x, Tensor& sums) {
  if (x.elements() == 0) return;
  const unsigned pieces = blocks_for(x.rows(), kColumnSumRows);
  const int64_t width = 32 * (16 / size_of(x.dtype()));
  Tensor parts = pieces > 1 ? Tensor::empty({pieces, x.cols()}) : Tensor();
  const ColumnSumsArguments arguments{.x = memory(x),
                                      .parts = elements<float>(parts),
                                      .sums = elements<float>(sums),
                                      .rows = x.rows(),
                                      .columns = static_cast<int>(x.cols()),
                                      .pieces = static_cast<int>(pieces)};
  launch(by_dtype(x.dtype(), "column_sums_f32", "column_sums_bf16"),
         {.x = pieces,
          .y = blocks_for(x.cols(), width),
          .threads = 32 * kColumnSumWarps,
          .shared_bytes = static_cast<size_t>(kColumnSumWarps * width) * sizeof(float)},
         arguments);
  if (pieces == 1) return;
  constexpr unsigned kThreads = 64;
  launch("column_sums_finish", {.x = blocks_for(x.cols(), kThreads), .threads = kThreads},
         arguments);
}

}  // namespace heed::kernels::gpu
