// Products with weights that are read in place. An element of c is a dot product: lane l of a
// vector sums the k that are l modulo the number of lanes, in their order; then the lanes are
// added. For one row of a, the weight is converted to f32 in registers; for more rows, it is first
// converted in parts. Both take the sums in the same order.
#include "heed/kernels/matmul_stored.h"

#include <algorithm>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/grain.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/with_rows.h"
#include "heed/tensor/allocator.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm/stored.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

// Sums of kTileRows x kTileCols vectors are kept in registers.
constexpr int kTileRows = HWY_MAX_BYTES == 64 || HWY_ARCH_ARM_A64 ? 6 : 3;
constexpr int64_t kTileCols = 4;
// k in one pass: the converted columns of a tile stay in a level-1 cache while the rows pass.
constexpr int64_t kDepth = 640;
// Rows and columns of c in one task: its sums between passes, and a pass of its rows, stay in a
// level-2 cache.
constexpr int64_t kTaskRows = 128 / kTileRows * kTileRows, kTaskCols = 32;
// Rows of a that are converted to f32 at a time.
constexpr int64_t kPassRows = 8 * kTaskRows;
// Worth waking a thread for: bytes of the weight with one row of a, and multiply-adds.
constexpr int64_t kGrainBytes = 128 << 10, kGrainWork = 1 << 20;

/// The factors: a as rows of f32, `a_stride` apart, padded with zeros to a multiple of 32.
struct Product {
  const float* a;
  int64_t a_stride, m, n, k;
  const std::byte* weight;
  int64_t row_bytes;
  const float* bias;  // or null
  Tensor& c;

  template <typename T>
  const T* weight_row(int64_t col) const {
    return reinterpret_cast<const T*>(weight + col * row_bytes);
  }

  void finish(int64_t row, int64_t col, float sum) const {
    const float value = bias ? sum + bias[col] : sum;
    if (c.dtype() == DType::f32)
      reinterpret_cast<float*>(c.raw())[row * n + col] = value;
    else
      reinterpret_cast<bfloat16*>(c.raw())[row * n + col] = bfloat16(value);
  }
};

/// One row of a times the kTileCols columns from `col` on.
template <typename T>
HWY_NOINLINE void dot_columns(const Product& p, int64_t col) {
  const F32 d;
  const T* columns[kTileCols];
  V32 sums[kTileCols];
  for (int n = 0; n < kTileCols; ++n) {
    // Columns beyond the last repeat it; their sums are not read.
    columns[n] = p.weight_row<T>(std::min(col + n, p.n - 1));
    sums[n] = hn::Zero(d);
  }
  const float* a = p.a;
  const int64_t unit_bytes = p.row_bytes * kUnit / std::max<int64_t>(1, p.k);
  for (int64_t unit = 0; unit < p.k / kUnit; ++unit, a += kUnit)
    for (int n = 0; n < kTileCols; ++n) {
      // The same part of the next columns.
      cpu::prefetch_to_level2(p.weight + (col + kTileCols + n) * p.row_bytes + unit * unit_bytes,
                              unit_bytes);
      const Unit w = unit_of(columns[n], unit);
      for (int64_t i = 0; i < kUnitVectors; ++i)
        sums[n] = hn::MulAdd(load(d, a + i * kVectorLanes), w.lanes[i], sums[n]);
    }
  if (p.k % kUnit)
    for (int n = 0; n < kTileCols; ++n) {
      const Unit w = tail_of(columns[n], p.k / kUnit * kUnit, p.k);
      for (int64_t i = 0; i < kUnitVectors; ++i)
        sums[n] = hn::MulAdd(load(d, a + i * kVectorLanes), w.lanes[i], sums[n]);
    }
  for (int n = 0; n < kTileCols && col + n < p.n; ++n) p.finish(0, col + n, sum_of(sums[n]));
}

template <typename T>
void multiply_row(const Product& p) {
  const int64_t grain =
      std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, kTileCols * p.row_bytes));
  parallel_for(ceil_div(p.n, kTileCols), grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) dot_columns<T>(p, group * kTileCols);
  });
}

/// A tile in one pass over K: rows of a, `a_stride` apart, and kTileCols columns in f32, kDepth
/// apart.
struct Tile {
  const float *a, *columns;
  int64_t a_stride, depth;
  const float* start;  // [rows, kTileCols, lanes]; null: zeros
  float* sums;         // likewise
};

template <int Rows>
void multiply_tile(const Tile& tile) {
  const F32 d;
  V32 sums[Rows][kTileCols];
  for (int r = 0; r < Rows; ++r)
    for (int64_t n = 0; n < kTileCols; ++n)
      sums[r][n] =
          tile.start ? load(d, tile.start + (r * kTileCols + n) * kVectorLanes) : hn::Zero(d);
  for (int64_t k = 0; k < tile.depth; k += kVectorLanes) {
    V32 a[Rows];
    for (int r = 0; r < Rows; ++r) a[r] = load(d, tile.a + r * tile.a_stride + k);
    for (int64_t n = 0; n < kTileCols; ++n) {
      const V32 w = load(d, tile.columns + n * kDepth + k);
      for (int r = 0; r < Rows; ++r) sums[r][n] = hn::MulAdd(a[r], w, sums[r][n]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int64_t n = 0; n < kTileCols; ++n)
      store(d, sums[r][n], tile.sums + (r * kTileCols + n) * kVectorLanes);
}

/// Converts elements [begin, end) of column `col` of the weight to f32 (widen_row).
using WidenColumn = void (*)(const Product& p, int64_t col, int64_t begin, int64_t end, float* to);

template <typename T>
void widen_column(const Product& p, int64_t col, int64_t begin, int64_t end, float* to) {
  widen_row(p.weight_row<T>(col), begin, end, to);
}

/// A part of c, at most [kTaskRows, kTaskCols], computed by one thread.
class Task {
 public:
  Task(const Product& product, WidenColumn widen, int64_t row, int64_t rows, int64_t col,
       int64_t cols)
      : p_(product), widen_(widen), row_(row), rows_(rows), col_(col), cols_(cols) {
    const int64_t groups = ceil_div(cols_, kTileCols);
    memory_ = allocate(static_cast<size_t>(groups * rows_ * kRowSums) * sizeof(float));
  }

  void run() const {
    const int64_t passes = std::max<int64_t>(1, ceil_div(p_.k, kDepth));
    const int64_t depth = round_up(ceil_div(p_.k, passes), kUnit);
    for (int64_t k = 0; k < p_.k; k += depth) run_pass(k, std::min(p_.k, k + depth));
    for (int64_t n = 0; n < cols_; ++n)
      for (int64_t r = 0; r < rows_; ++r) {
        const float* lanes = sums_at(n, r) + n % kTileCols * kVectorLanes;
        p_.finish(row_ + r, col_ + n, p_.k ? sum_of(load(F32(), lanes)) : 0.0f);
      }
  }

 private:
  static constexpr int64_t kRowSums = kTileCols * kVectorLanes;

  float* sums_at(int64_t col, int64_t row) const {
    return reinterpret_cast<float*>(memory_.get()) + (col / kTileCols * rows_ + row) * kRowSums;
  }

  void run_pass(int64_t begin, int64_t end) const {
    HWY_ALIGN float columns[kTileCols * kDepth];
    for (int64_t col = 0; col < cols_; col += kTileCols) {
      for (int64_t n = 0; n < kTileCols; ++n)
        // Columns beyond the last repeat it; their sums are not read.
        widen_(p_, col_ + std::min(col + n, cols_ - 1), begin, end, columns + n * kDepth);
      for (int64_t row = 0; row < rows_; row += kTileRows) {
        float* sums = sums_at(col, row);
        const Tile tile{.a = p_.a + (row_ + row) * p_.a_stride + begin,
                        .columns = columns,
                        .a_stride = p_.a_stride,
                        .depth = round_up(end - begin, kUnit),
                        .start = begin ? sums : nullptr,
                        .sums = sums};
        cpu::with_rows<kTileRows>(std::min<int64_t>(kTileRows, rows_ - row),
                                  [&](auto rows) { multiply_tile<decltype(rows)::value>(tile); });
      }
    }
  }

  const Product& p_;
  WidenColumn widen_;
  int64_t row_, rows_, col_, cols_;
  std::shared_ptr<std::byte> memory_;
};

void multiply_rows(const Product& p, WidenColumn widen) {
  const int64_t row_blocks = ceil_div(p.m, kTaskRows);
  const int64_t rows = round_up(ceil_div(p.m, row_blocks), kTileRows);
  const int64_t tasks = row_blocks * ceil_div(p.n, kTaskCols);
  const int64_t task_work = std::max<int64_t>(1, rows * kTaskCols * p.k);
  parallel_for(
      tasks, std::max<int64_t>(1, kGrainWork / task_work), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          // Consecutive tasks share their columns.
          const int64_t row = i % row_blocks * rows, col = i / row_blocks * kTaskCols;
          if (row < p.m)
            Task(p, widen, row, std::min(rows, p.m - row), col, std::min(kTaskCols, p.n - col))
                .run();
        }
      });
}

/// Rows of a in f32, `stride` apart.
std::shared_ptr<std::byte> widened(const Tensor& a, int64_t stride) {
  auto memory = allocate(static_cast<size_t>(a.rows() * stride) * sizeof(float));
  float* to = reinterpret_cast<float*>(memory.get());
  visit_floating(a.dtype(), [&](auto zero) {
    const auto* from = a.data<decltype(zero)>();
    parallel_for(a.rows(), grain_rows(kLightGrain, a.cols()), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        widen_row(from + row * a.cols(), 0, a.cols(), to + row * stride);
    });
  });
  return memory;
}

void multiply(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  // Not a power of two, so that rows fall into different sets of a cache.
  const int64_t stride = round_up(a.cols(), kUnit) + 16;
  const auto rows = widened(a, stride);
  const Product product{.a = reinterpret_cast<const float*>(rows.get()),
                        .a_stride = stride,
                        .m = a.rows(),
                        .n = weight.rows(),
                        .k = a.cols(),
                        .weight = weight.raw(),
                        .row_bytes = weight.row_bytes(),
                        .bias = bias.defined() ? bias.data<float>() : nullptr,
                        .c = c};
  visit_stored(weight.dtype(), [&](auto stored) {
    using T = decltype(stored);
    product.m == 1 ? multiply_row<T>(product) : multiply_rows(product, widen_column<T>);
  });
}

}  // namespace

void matmul_stored(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  visit_floating(c.dtype(), [](auto) {});
  if (c.elements() == 0) return;
  for (int64_t row = 0; row < a.rows(); row += kPassRows) {
    const int64_t end = std::min(a.rows(), row + kPassRows);
    Tensor part = c.row_slice(row, end);
    multiply(a.row_slice(row, end), weight, bias, part);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(matmul_stored);
void cpu::matmul_stored(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  HWY_DYNAMIC_DISPATCH(matmul_stored)(a, weight, bias, c);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
