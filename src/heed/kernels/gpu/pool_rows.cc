#include "heed/kernels/pool_rows.h"

#include "heed/kernels/gpu/code/reductions/pool_rows.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

/// Launches `kernel` for groups that a grid has room for: arguments(first, last, offsets) are those
/// of the groups [first, last).
template <typename Arguments>
void launch_groups(const char* kernel, std::span<const int32_t> offsets, int64_t columns,
                   const Arguments& arguments) {
  const int64_t groups = std::ssize(offsets) - 1;
  if (columns == 0) return;
  constexpr int64_t kMostGroups = 65535;  // of the grid
  for (int64_t first = 0; first < groups; first += kMostGroups) {
    const int64_t count = std::min(kMostGroups, groups - first);
    const Uploaded<int32_t> ends(
        offsets.subspan(static_cast<size_t>(first), static_cast<size_t>(count) + 1));
    launch(kernel,
           {.x = blocks_for(columns, 128), .y = static_cast<unsigned>(count), .threads = 128},
           arguments(first, first + count, ends.data()));
  }
}

float* rows_of(const Tensor& tensor, int64_t first, int64_t last) {
  return const_cast<float*>(elements<float>(tensor.row_slice(first, last)));
}

void launch_sum_rows(const char* kernel, const Tensor& x, std::span<const int32_t> offsets,
                     std::span<const float> weights, const Tensor& y) {
  const Uploaded<float> factors(weights);
  launch_groups(kernel, offsets, y.cols(), [&](int64_t first, int64_t last, const int32_t* ends) {
    return SumRowsArguments{rows_of(x, 0, x.rows()), rows_of(y, first, last), ends, factors.data(),
                            y.cols()};
  });
}

}  // namespace

void sum_rows(const Tensor& x, std::span<const int32_t> offsets, std::span<const float> weights,
              Tensor& y) {
  launch_sum_rows("sum_rows_f32", x, offsets, weights, y);
}

void sum_rows_backward(const Tensor& dy, std::span<const int32_t> offsets,
                       std::span<const float> weights, Tensor& dx) {
  launch_sum_rows("sum_rows_backward_f32", dx, offsets, weights, dy);
}

void max_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  launch_groups(
      "max_rows_f32", offsets, y.cols(), [&](int64_t first, int64_t last, const int32_t* ends) {
        return MaxRowsArguments{
            elements<float>(x), rows_of(y, first, last), nullptr, nullptr, ends, y.cols()};
      });
}

void max_rows_backward(const Tensor& x, const Tensor& y, const Tensor& dy,
                       std::span<const int32_t> offsets, Tensor& dx) {
  launch_groups("max_rows_backward_f32", offsets, y.cols(),
                [&](int64_t first, int64_t last, const int32_t* ends) {
                  return MaxRowsArguments{elements<float>(x),
                                          rows_of(y, first, last),
                                          rows_of(dy, first, last),
                                          rows_of(dx, 0, dx.rows()),
                                          ends,
                                          y.cols()};
                });
}

}  // namespace heed::kernels::gpu
