// The frame around the kernels for integers of 8 bits: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_int8.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/gemm_int8/rows.h"
#include "heed/kernels/cpu/simd/buffer.h"
#include "heed/kernels/cpu/simd/pieces.h"
#include "heed/kernels/quantize.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Of a's quants in one pass: unless rows are very long, they stay in a level-2 cache while the
// panels pass.
constexpr int64_t kBytesAtOnce = 640 << 10;
// Of a piece of work: whole strips of each kernel. Its panels stay in a level-2 cache, too, while
// strips of rows pass.
constexpr int64_t kPieceRows = 96;
constexpr int64_t kPieceBytes = 512 << 10;
// Few rows take as long as reading the panels: pieces are of so much, worth waking a thread for, so
// that threads end at nearly one time.
constexpr int64_t kFewRows = 16;
constexpr int64_t kReadBytes = 128 << 10;
// Of many rows pieces are as wide as can be, since a strip is read for each of them, but some for
// each thread, unless they have fewer products than this.
constexpr int64_t kPiecesPerThread = 2;
constexpr int64_t kLeastProducts = 4 << 20;

thread_local Buffer rows_buffer;

/// Room for so many rows of activations. From one to the next it is an odd number of lines, so that
/// those of a tile do not compete for the same lines of a cache.
Int8Rows rows_in(Buffer& buffer, int64_t rows, int64_t k) {
  const int64_t row_bytes = Int8Panel::depth_of(k) | 64;
  std::byte* memory = buffer.at_least(rows * (row_bytes + 4));
  return {.quants = reinterpret_cast<int8_t*>(memory),
          .row_bytes = row_bytes,
          .scales = reinterpret_cast<float*>(memory + rows * row_bytes)};
}

/// Rows of a in one pass: so many pieces that most numbers of threads share them evenly.
int64_t rows_at_once(int64_t k) {
  const int64_t row_bytes = std::max(kInt8Depth, Int8Panel::depth_of(k));
  int64_t rows = kPieceRows;
  while (2 * rows * row_bytes <= kBytesAtOnce) rows *= 2;
  return rows;
}

/// A product's part in what is done for several, of some rows of a.
class Product {
 public:
  /// For so many threads.
  Product(const Int8Product& product, const Int8Kernel& kernel, int threads, int64_t first_row,
          int64_t rows)
      : kernel_(kernel),
        panels_(product.weight->panels.get()),
        depth_(Int8Panel::depth_of(product.weight->cols)),
        bias_(product.bias->defined() ? product.bias->data<float>() : nullptr),
        c_(*product.c),
        first_row_(first_row),
        m_(rows),
        n_(product.weight->rows),
        piece_panels_(piece_panels(threads)) {}

  /// Of some rows and panels each, for threads to take.
  int64_t pieces() const { return row_pieces() * ceil_div(panels(), piece_panels_); }

  void run(const Int8Rows& rows, int64_t piece) const {
    const int64_t first = piece % row_pieces() * kPieceRows;
    const int64_t panel = piece / row_pieces() * piece_panels_;
    const int64_t end = std::min(first + kPieceRows, m_);
    for (int64_t row = first; row < end; row += kernel_.rows)
      run_strip(rows, row, std::min(kernel_.rows, end - row), panel,
                std::min(panel + piece_panels_, panels()));
  }

 private:
  int64_t panels() const { return ceil_div(n_, kInt8Cols); }
  int64_t row_pieces() const { return ceil_div(m_, kPieceRows); }

  int64_t piece_panels(int threads) const {
    const int64_t bytes = Int8Panel::bytes(depth_), rows = std::min(m_, kPieceRows);
    const int64_t most = std::max<int64_t>(1, kPieceBytes / bytes);
    if (threads == 1) return most;
    if (rows < kFewRows) return std::clamp<int64_t>(kReadBytes / bytes, 1, most);
    const int64_t share = ceil_div(panels(), ceil_div(kPiecesPerThread * threads, row_pieces()));
    return std::min(most, std::max(share, ceil_div(kLeastProducts / rows, bytes)));
  }

  void run_strip(const Int8Rows& rows, int64_t row, int64_t count, int64_t panel,
                 int64_t end) const {
    alignas(64) int32_t dots[kMostInt8Rows * kInt8Cols];
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
  const int64_t first_row_, m_, n_, piece_panels_;
};

/// A panel of the first `count` columns of quants, the others being zeros.
void fill_panel(const Int8Rows& columns, int64_t count, int64_t depth, std::byte* to) {
  auto* const scales = reinterpret_cast<float*>(to);
  auto* const starts = reinterpret_cast<int32_t*>(to + Int8Panel::kStarts);
  auto* const quants = reinterpret_cast<int8_t*>(to + Int8Panel::kQuants);
  std::fill_n(to, Int8Panel::bytes(depth), std::byte{0});
  for (int64_t col = 0; col < count; ++col) {
    const int8_t* from = columns.quants + col * columns.row_bytes;
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      quants[k / 4 * kInt8QuadBytes + 4 * col + k % 4] = from[k];
      sum += from[k];
    }
    scales[col] = columns.scales[col];
    starts[col] = -kInt8Bias * sum;
  }
}

}  // namespace

PackedInt8 pack_int8(const Tensor& weight) {
  require(weight.cols() <= kMaxInt8Cols, "pack_int8: the weight has {} columns, at most {} are",
          weight.cols(), kMaxInt8Cols);
  const int64_t depth = Int8Panel::depth_of(weight.cols());
  const int64_t panels = ceil_div(weight.rows(), kInt8Cols), bytes = Int8Panel::bytes(depth);
  PackedInt8 packed{.panels = allocate(static_cast<size_t>(panels * bytes)),
                    .rows = weight.rows(),
                    .cols = weight.cols(),
                    .weight = {}};
  parallel_for(panels, std::max<int64_t>(1, kReadBytes / bytes), [&](int64_t begin, int64_t end) {
    Buffer quants;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kInt8Cols;
      const Tensor some = weight.row_slice(first, std::min(first + kInt8Cols, weight.rows()));
      Tensor wide = Tensor::empty({some.rows(), some.cols()});
      cpu::dequantize(some, wide);
      const Int8Rows columns = rows_in(quants, kInt8Cols, some.cols());
      quantize_int8(wide, 0, some.rows(), false, columns);
      fill_panel(columns, some.rows(), depth, packed.panels.get() + panel * bytes);
    }
  });
  return packed;
}

void matmul_int8_grouped(const Tensor& a, std::span<const Int8Product> products) {
  visit_floating(a.dtype(), [](auto) {});
  for (const Int8Product& product : products) {
    require(product.weight->panels != nullptr,
            "matmul_int8: the weight was packed by the reference backend");
    visit_floating(product.c->dtype(), [](auto) {});
  }
  if (products.empty()) return;
  const int64_t at_once = rows_at_once(a.cols());
  const int threads = thread_count();  // in a piece of work it is 1
  for (int64_t first = 0; first < a.rows(); first += at_once) {
    const int64_t count = std::min(at_once, a.rows() - first);
    const Int8Kernel& kernel = int8_kernel(count);
    const Int8Rows rows = rows_in(rows_buffer, count, a.cols());
    const Tensor some = a.row_slice(first, first + count);
    parallel_for(count, piece_rows(kLightPiece, a.cols()), [&](int64_t begin, int64_t end) {
      quantize_int8(some, begin, end, kernel.biased, rows);
    });
    const auto part = [&](size_t i) { return Product(products[i], kernel, threads, first, count); };
    parallel_over(
        products.size(), [&](size_t i) { return part(i).pieces(); },
        [&](size_t i, int64_t piece) { part(i).run(rows, piece); });
  }
}

}  // namespace heed::kernels::cpu
