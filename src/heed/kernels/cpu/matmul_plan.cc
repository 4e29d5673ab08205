#include "heed/kernels/cpu/matmul_plan.h"

#include <algorithm>

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kPanelBytes = 512 << 10;
constexpr int64_t kSumBytes = 512 << 10;
// The least work, in units of the micro-kernel's rows, that is worth reading a panel of b for.
constexpr int64_t kLeastRowUnits = 4;
constexpr double kSmallMicroseconds = 50;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace

Task Plan::task(int64_t index) const {
  const int64_t row_block = index % row_blocks, col_block = index / row_blocks;
  const auto cut = [](int64_t size, int64_t unit, int64_t blocks, int64_t block) {
    return std::min(size, ceil_div(size, unit) * block / blocks * unit);
  };
  const int64_t row = cut(m, row_unit, row_blocks, row_block);
  const int64_t col = cut(n, col_unit, col_blocks, col_block);
  return {.row = row,
          .rows = cut(m, row_unit, row_blocks, row_block + 1) - row,
          .col = col,
          .cols = cut(n, col_unit, col_blocks, col_block + 1) - col};
}

Plan plan(const MicroKernel& kernel, int64_t m, int64_t k, int64_t n, int64_t threads) {
  const int64_t pass_bytes = std::min(k, kernel.depth) * size_of(kernel.panel_type);
  const int64_t block_cols = std::max(kernel.cols, kPanelBytes / std::max<int64_t>(1, pass_bytes));
  const int64_t block_rows = std::max(kernel.rows, kSumBytes / 4 / std::min(n, block_cols));
  Plan plan{.m = m,
            .n = n,
            .row_unit = kernel.rows,
            .col_unit = kernel.cols,
            .row_blocks = ceil_div(m, block_rows),
            .col_blocks = ceil_div(n, block_cols),
            .parallel = false};
  const double operations =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  plan.parallel =
      threads > 1 && operations > kSmallMicroseconds * kernel.operations_per_microsecond;
  if (!plan.parallel) return plan;

  const int64_t row_units = ceil_div(m, kernel.rows), col_units = ceil_div(n, kernel.cols);
  const int64_t most_row_blocks = std::max<int64_t>(1, row_units / kLeastRowUnits);
  plan.row_blocks =
      std::min(round_up(plan.row_blocks, threads), std::max(plan.row_blocks, most_row_blocks));
  // The threads get equally many tasks, or so many that it hardly matters.
  while (plan.tasks() % threads != 0 && plan.tasks() < 8 * threads && plan.col_blocks < col_units)
    ++plan.col_blocks;
  return plan;
}

}  // namespace heed::kernels::cpu
