#include "heed/kernels/mean_rows.h"

#include "heed/kernels/gpu/code/reductions/mean_rows.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

void launch_mean_rows(const char* kernel, const Tensor& x, std::span<const int32_t> offsets,
                      const Tensor& y) {
  if (y.elements() == 0) return;
  constexpr int64_t kMostMeans = 65535;  // of the grid
  for (int64_t first = 0; first < y.rows(); first += kMostMeans) {
    const int64_t count = std::min(kMostMeans, y.rows() - first);
    const Uploaded<int32_t> ends(
        offsets.subspan(static_cast<size_t>(first), static_cast<size_t>(count) + 1));
    const Tensor part = y.row_slice(first, first + count);
    launch(kernel,
           {.x = blocks_for(y.cols(), 128), .y = static_cast<unsigned>(count), .threads = 128},
           MeanRowsArguments{const_cast<float*>(elements<float>(x)),
                             const_cast<float*>(elements<float>(part)), ends.data(), y.cols()});
  }
}

}  // namespace

void mean_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  launch_mean_rows("mean_rows_f32", x, offsets, y);
}

void mean_rows_backward(const Tensor& dy, std::span<const int32_t> offsets, Tensor& dx) {
  launch_mean_rows("mean_rows_backward_f32", dx, offsets, dy);
}

}  // namespace heed::kernels::gpu
