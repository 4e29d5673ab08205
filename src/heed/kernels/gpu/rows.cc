#include "heed/kernels/rows.h"

#include "heed/kernels/gpu/code/rows.h"
#include "heed/kernels/gpu/launch_units.h"

namespace heed::kernels::gpu {

void gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  if (rows.empty() || x.cols() == 0) return;
  y.check_dtype(x.dtype());
  const Uploaded<int32_t> uploaded(rows);
  const int64_t unit = unit_of({x.row_bytes()}, {memory(x), memory(y)});
  const int64_t columns = x.row_bytes() / unit;
  launch(by_unit(unit, "gather_rows_2", "gather_rows_4", "gather_rows_16"),
         shape_of_row_columns(std::ssize(rows), columns, 1),
         GatherRowsArguments{memory(x), uploaded.data(), memory(y), static_cast<int>(columns)});
}

}  // namespace heed::kernels::gpu
