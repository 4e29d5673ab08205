#include "heed/kernels/columns.h"

#include "heed/kernels/gpu/code/rows/columns.h"
#include "heed/kernels/gpu/launch_units.h"

namespace heed::kernels::gpu {
namespace {

/// With units of `unit` bytes.
ColumnsArguments columns_arguments(const Tensor& x, const ColumnsOptions& options, const Tensor& y,
                                   int64_t unit) {
  y.check_dtype(x.dtype());
  const int64_t size = size_of(x.dtype());
  const auto units = [&](int64_t elements) { return elements * size / unit; };
  const auto placed = [&](const Tensor& in, HeadColumns at) {
    return HeadColumnsOfRow{units(in.cols()), units(at.begin), units(at.stride)};
  };
  return {.x = memory(x),
          .y = memory(y),
          .from = placed(x, options.from),
          .to = placed(y, options.to),
          .heads = static_cast<int>(options.n_heads),
          .width = static_cast<int>(units(options.width)),
          .accumulate = options.accumulate};
}

}  // namespace

void copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  if (x.rows() == 0 || options.n_heads == 0 || options.width == 0) return;
  const int64_t size = size_of(x.dtype());
  int64_t unit = size;
  if (!options.accumulate) {
    const int64_t all = x.cols() | y.cols() | options.width | options.from.begin |
                        options.from.stride | options.to.begin | options.to.stride;
    unit = unit_of({all * size}, {memory(x), memory(y)});
  }
  const ColumnsArguments arguments = columns_arguments(x, options, y, unit);
  const char* const kernel =
      options.accumulate ? by_dtype(x.dtype(), "add_columns_f32", "add_columns_bf16")
                         : by_unit(unit, "copy_columns_2", "copy_columns_4", "copy_columns_16");
  launch(kernel, shape_of_row_columns(x.rows(), int64_t{arguments.heads} * arguments.width, 1),
         arguments);
}

void sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  if (x.rows() == 0 || options.width == 0) return;
  launch(by_dtype(x.dtype(), "sum_heads_f32", "sum_heads_bf16"),
         shape_of_row_columns(x.rows(), options.width, 1),
         columns_arguments(x, options, y, size_of(x.dtype())));
}

}  // namespace heed::kernels::gpu
