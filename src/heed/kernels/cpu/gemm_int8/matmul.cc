// Drives the kernels for 8-bit integers: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_int8.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/grouped.h"
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/gemm_int8/rows.h"
#include "heed/kernels/cpu/simd/buffer.h"
#include "heed/kernels/cpu/simd/grain.h"
#include "heed/kernels/quantize.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Bytes of a's quants in one pass: unless rows are very long, they stay in a level-2 cache while
// the panels pass.
constexpr int64_t kPassBytes = 640 << 10;
// Rows of a chunk, a multiple of every kernel's strip, and bytes of its panels, which stay in a
// level-2 cache, too, while strips of rows pass.
constexpr int64_t kChunkRows = 96;
constexpr int64_t kChunkBytes = 512 << 10;
// Products of fewer rows, as in decoding, are memory-bound. Their chunks have this many bytes:
// worth waking a thread for, and small enough that all threads finish at nearly the same time.
constexpr int64_t kDecodeRows = 16;
constexpr int64_t kReadBytes = 128 << 10;
// Each chunk of many rows reads the strips again, so chunks are as wide as possible with at least
// kChunksPerThread for each thread, but not narrower than kMinProducts multiply-adds.
constexpr int64_t kChunksPerThread = 2;
constexpr int64_t kMinProducts = 4 << 20;

thread_local Buffer rows_buffer;

/// Room for `rows` rows of activations. Their stride is an odd number of cache lines, so that the
/// rows of a tile fall into different sets of a cache.
Int8Rows rows_in(Buffer& buffer, RowQuants type, int64_t rows, int64_t k) {
  const int64_t row_bytes = (bytes_of(type) * Int8Panel::depth_of(k)) | 64;
  std::byte* memory = buffer.at_least(rows * (row_bytes + 4));
  return {.quants = memory,
          .type = type,
          .row_bytes = row_bytes,
          .scales = reinterpret_cast<float*>(memory + rows * row_bytes)};
}

/// Rows of a in one pass.
int64_t pass_rows(int64_t k) {
  return rows_per_pass(kChunkRows, std::max(kInt8Depth, Int8Panel::depth_of(k)), kPassBytes);
}

/// The product of rows [first_row, first_row + rows) of a with one weight, on `threads` threads.
class Work {
 public:
  Work(const Int8Product& product, int threads, int64_t first_row, int64_t rows)
      : kernel_(int8_kernel(rows)),
        panels_(product.weight->panels.get()),
        depth_(Int8Panel::depth_of(product.weight->cols)),
        bias_(product.bias->defined() ? product.bias->data<float>() : nullptr),
        c_(*product.c),
        first_row_(first_row),
        m_(rows),
        n_(product.weight->rows),
        chunk_panels_(chunk_panels(threads)) {}

  /// Of kChunkRows rows and chunk_panels_ panels each.
  int64_t chunks() const { return row_chunks() * ceil_div(panels(), chunk_panels_); }

  void run(const Int8Rows& rows, int64_t chunk) const {
    const int64_t first = chunk % row_chunks() * kChunkRows;
    const int64_t panel = chunk / row_chunks() * chunk_panels_;
    const int64_t end = std::min(first + kChunkRows, m_);
    // Strips of nearly the same number of rows: with a few rows a kernel is slower per row.
    const int64_t strips = ceil_div(end - first, kernel_.max_rows);
    const int64_t count = round_up(ceil_div(end - first, strips), kernel_.row_multiple);
    for (int64_t row = first; row < end; row += count)
      run_strip(rows, row, std::min(count, end - row), panel,
                std::min(panel + chunk_panels_, panels()));
  }

 private:
  int64_t panels() const { return ceil_div(n_, kInt8Cols); }
  int64_t row_chunks() const { return ceil_div(m_, kChunkRows); }

  int64_t chunk_panels(int threads) const {
    const int64_t bytes = Int8Panel::bytes(depth_), rows = std::min(m_, kChunkRows);
    const int64_t max = std::max<int64_t>(1, kChunkBytes / bytes);
    if (threads == 1) return max;
    if (rows < kDecodeRows) return std::clamp<int64_t>(kReadBytes / bytes, 1, max);
    const int64_t share = ceil_div(panels(), ceil_div(kChunksPerThread * threads, row_chunks()));
    return std::min(max, std::max(share, ceil_div(kMinProducts / rows, bytes)));
  }

  void run_strip(const Int8Rows& rows, int64_t row, int64_t count, int64_t panel,
                 int64_t end) const {
    alignas(64) int32_t dots[kMaxInt8Rows * kInt8Cols];
    if (kernel_.begin) kernel_.begin(count);
    for (; panel < end; ++panel) {
      const Int8Panel at{panels_ + panel * Int8Panel::bytes(depth_), depth_};
      kernel_.multiply({.a = rows.quants + row * rows.row_bytes,
                        .row_bytes = rows.row_bytes,
                        .rows = count,
                        .panel = at,
                        .dots = dots});
      const int64_t col = panel * kInt8Cols;
      finish_int8({.dots = dots,
                   .rows = count,
                   .cols = std::min(kInt8Cols, n_ - col),
                   .row_scales = rows.scales + row,
                   .col_scales = at.scales(),
                   .bias = bias_ ? bias_ + col : nullptr},
                  first_row_ + row, col, c_);
    }
    if (kernel_.end) kernel_.end();
  }

  const Int8Kernel& kernel_;
  const std::byte* panels_;
  const int64_t depth_;
  const float* bias_;
  Tensor& c_;
  const int64_t first_row_, m_, n_, chunk_panels_;
};

/// Writes a panel of `count` columns of quants; the other columns are zeros.
void fill_panel(const Int8Rows& columns, int64_t count, int64_t depth, std::byte* to) {
  auto* const scales = reinterpret_cast<float*>(to);
  auto* const initial = reinterpret_cast<int32_t*>(to + Int8Panel::kInitial);
  auto* const quants = reinterpret_cast<int8_t*>(to + Int8Panel::kQuants);
  std::fill_n(to, Int8Panel::bytes(depth), std::byte{0});
  for (int64_t col = 0; col < count; ++col) {
    const auto* from = reinterpret_cast<const int8_t*>(columns.quants + col * columns.row_bytes);
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      quants[k / 4 * kInt8QuadBytes + 4 * col + k % 4] = from[k];
      sum += from[k];
    }
    scales[col] = columns.scales[col];
    initial[col] = -kInt8Bias * sum;
  }
}

}  // namespace

PackedInt8 pack_int8(const Tensor& weight) {
  require(weight.cols() <= kMaxInt8Cols, "pack_int8: the weight has {} columns, at most {} are",
          weight.cols(), kMaxInt8Cols);
  const int64_t depth = Int8Panel::depth_of(weight.cols());
  const int64_t panels = ceil_div(weight.rows(), kInt8Cols), bytes = Int8Panel::bytes(depth);
  PackedInt8 packed{.panels = allocate(static_cast<size_t>(panels * bytes)),
                    .panel_bytes = panels * bytes,
                    .rows = weight.rows(),
                    .cols = weight.cols()};
  parallel_for(panels, std::max<int64_t>(1, kReadBytes / bytes), [&](int64_t begin, int64_t end) {
    Buffer quants;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kInt8Cols;
      const Tensor some = weight.row_slice(first, std::min(first + kInt8Cols, weight.rows()));
      Tensor wide = Tensor::empty({some.rows(), some.cols()});
      cpu::dequantize(some, wide);
      const Int8Rows columns = rows_in(quants, RowQuants::bytes, kInt8Cols, some.cols());
      quantize_int8(wide, 0, some.rows(), columns);
      fill_panel(columns, some.rows(), depth, packed.panels.get() + panel * bytes);
    }
  });
  return packed;
}

void matmul_int8_grouped(const Tensor& a, std::span<const Int8Product> products) {
  check_products("matmul_int8", a, products);
  if (products.empty()) return;
  const int threads = thread_count();  // in a parallel region it is 1
  const auto quantize = [](const Tensor& rows) {
    const RowQuants type = int8_kernel(rows.rows()).row_quants;
    const Int8Rows to = rows_in(rows_buffer, type, rows.rows(), rows.cols());
    parallel_for(rows.rows(), grain_rows(kLightGrain, rows.cols()),
                 [&](int64_t begin, int64_t end) { quantize_int8(rows, begin, end, to); });
    return to;
  };
  multiply_grouped(a, pass_rows(a.cols()), products.size(), quantize,
                   [&](size_t i, int64_t first, int64_t rows) {
                     return Work(products[i], threads, first, rows);
                   });
}

}  // namespace heed::kernels::cpu
