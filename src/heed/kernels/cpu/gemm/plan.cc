#include "heed/kernels/cpu/gemm/plan.h"

#include <algorithm>

#include "heed/base/rounding.h"
#include "heed/base/system.h"

namespace heed::kernels::cpu {
namespace {

// Shorter products run on one thread.
constexpr double kSmallMicroseconds = 10;
// The fewest rows of a task for which reading a panel of b once more, or packing it, pays.
constexpr int64_t kRowsForReading = 128;
constexpr int64_t kRowsForPacking = 384;
// Products of few rows (skinny GEMM) are memory-bound: reading this many bytes of b is worth a
// task. With a single row (GEMV) all tasks are of this size, so that threads finish at nearly the
// same time.
constexpr int64_t kReadBytes = 128 << 10;
// More tasks than threads, since some threads start late or are interrupted.
constexpr int64_t kTasksPerThread = 4;

/// Bytes of its core's level-2 cache that a task may fill.
int64_t cache_bytes() {
  static const int64_t bytes =
      std::clamp<int64_t>(level2_cache_bytes(), 512 << 10, 2 << 20) * 3 / 4;
  return bytes;
}

/// k per pass: as few passes as possible, of equal depth.
int64_t even_depth(const MicroKernel& kernel, const MatrixView& a) {
  const int64_t max_depth = a.transposed ? kernel.transposed_depth : kernel.depth;
  const int64_t passes = std::max<int64_t>(1, ceil_div(a.cols, max_depth));
  return std::max(kernel.depth_multiple, round_up(ceil_div(a.cols, passes), kernel.depth_multiple));
}

/// How many panels of this depth fit into `bytes`, at least one.
int64_t panels_in(int64_t bytes, const MicroKernel& kernel, int64_t depth) {
  return std::max<int64_t>(1, bytes / std::max<int64_t>(1, kernel.panel_bytes(depth)));
}

/// The largest block of c [rows, cols] for which the panels of b stay in the cache and, if K takes
/// several passes, the sums.
void choose_block(const MicroKernel& kernel, const Plan& plan, int64_t k, bool packed,
                  int64_t& rows, int64_t& cols) {
  const bool once = k <= plan.depth, splits = kernel.element_bytes > 4;
  // Each block of columns packs the rows again, and each block of rows packs b again, unless it is
  // packed. bf16x3: splitting the rows costs more than rereading sums.
  const int64_t panel_share = once || packed || splits ? 2 : 4;
  const int64_t panels = panels_in(cache_bytes() / panel_share, kernel, std::min(k, plan.depth));
  cols = std::min(panels * kernel.cols, round_up(plan.n, kernel.cols));
  const int64_t sums = cache_bytes() / (splits ? 4 : 2) / size_of(DType::f32);
  rows = once ? plan.m : std::max(kernel.rows, sums / cols);
}

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

Plan plan(const MicroKernel& kernel, const MatrixView& a, int64_t n, bool packed, int64_t threads) {
  const int64_t m = a.rows, k = a.cols;
  Plan plan{.m = m,
            .n = n,
            .row_unit = kernel.rows,
            .col_unit = kernel.cols,
            .depth = even_depth(kernel, a)};
  int64_t block_rows = 0, block_cols = 0;
  choose_block(kernel, plan, k, packed, block_rows, block_cols);
  plan.row_blocks = ceil_div(m, block_rows);
  plan.col_blocks = ceil_div(n, block_cols);
  // Fewer rows than a strip take as long as a strip: the product is memory-bound.
  const auto rows = static_cast<double>(std::max(m, kernel.rows));
  const double operations = 2.0 * rows * static_cast<double>(n) * static_cast<double>(k);
  const int64_t max_col_blocks = ceil_div(n, kernel.cols);
  const int64_t readings =
      packed && m <= kernel.rows ? ceil_div(max_col_blocks, panels_in(kReadBytes, kernel, k)) : 1;
  plan.parallel =
      threads > 1 &&
      (readings > 1 || operations > kSmallMicroseconds * kernel.operations_per_microsecond);
  if (plan.parallel) {
    // The same number for every thread. Rows are divided first, while there are many, then columns.
    const int64_t wanted = round_up(
        std::max(plan.row_blocks, ceil_div(kTasksPerThread * threads, plan.col_blocks)), threads);
    const int64_t min_rows = packed ? kRowsForReading : kRowsForPacking;
    plan.row_blocks = std::min(wanted, std::max(plan.row_blocks, m / min_rows));
    if (m == 1) plan.col_blocks = std::max(plan.col_blocks, readings);
    while (plan.tasks() % threads != 0 && plan.tasks() < 8 * threads &&
           plan.col_blocks < max_col_blocks)
      ++plan.col_blocks;
  }
  plan.pack_in_tasks = !packed && (plan.row_blocks == 1 || m / plan.row_blocks >= kRowsForPacking);
  return plan;
}

}  // namespace heed::kernels::cpu
