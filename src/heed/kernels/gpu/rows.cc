#include "heed/kernels/rows.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "heed/kernels/gpu/code/rows/rows.h"
#include "heed/kernels/gpu/launch_units.h"

namespace heed::kernels::gpu {
namespace {

/// Appends to `numbers` the order that brings equal rows together, the start of each group in it
/// (and the end of the last), and the row of each group. Returns the groups.
int64_t group_rows(std::span<const int32_t> rows, std::vector<int32_t>& numbers) {
  std::vector<int32_t> starts, targets;
  numbers.resize(rows.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto row = [&](int32_t i) { return rows[static_cast<size_t>(i)]; };
  std::ranges::stable_sort(numbers, {}, row);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (i == 0 || row(numbers[i]) != targets.back()) {
      starts.push_back(static_cast<int32_t>(i));
      targets.push_back(row(numbers[i]));
    }
  starts.push_back(static_cast<int32_t>(numbers.size()));
  numbers.insert(numbers.end(), starts.begin(), starts.end());
  numbers.insert(numbers.end(), targets.begin(), targets.end());
  return std::ssize(targets);
}

}  // namespace

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

void add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  if (rows.empty() || x.cols() == 0) return;
  y.check_dtype(x.dtype());
  std::vector<int32_t> numbers;
  const int64_t groups = group_rows(rows, numbers);
  const Uploaded<int32_t> uploaded{std::span<const int32_t>(numbers)};
  const int32_t *const starts = uploaded.data() + rows.size(), *const targets = starts + groups + 1;
  launch(by_dtype(x.dtype(), "add_rows_f32", "add_rows_bf16"),
         shape_of_row_columns(groups, x.cols(), 16 / size_of(x.dtype())),
         AddRowsArguments{memory(x), uploaded.data(), starts, targets, memory(y),
                          static_cast<int>(x.cols())});
}

}  // namespace heed::kernels::gpu
