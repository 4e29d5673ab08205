// The frame around the kernels for integers of 8 bits: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_int8.h"

#include <algorithm>
#include <cstring>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/buffer.h"
#include "heed/kernels/cpu/matmul_int8_kernels.h"
#include "heed/kernels/cpu/matmul_int8_rows.h"
#include "heed/kernels/cpu/pieces.h"
#include "heed/kernels/quantize.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Of a's quants in one pass: they stay in a level-2 cache while the panels pass.
constexpr int64_t kBytesAtOnce = 512 << 10;
// Of a piece of work. Its panels stay in a level-2 cache, too, while strips of rows pass.
constexpr int64_t kPieceRows = 128;
constexpr int64_t kPieceBytes = 512 << 10;
// The least that is worth waking a thread for: bytes of panels that few rows read, and products.
constexpr int64_t kLeastBytes = 32 << 10;
constexpr int64_t kLeastProducts = 4 << 20;
constexpr int64_t kFewRows = 16;
constexpr int64_t kPiecesPerThread = 4;

thread_local Buffer rows_buffer;

/// Room for so many rows of activations. A line more than they need lies between rows, so that
/// those of a tile do not compete for the same lines of a cache.
Int8Rows rows_in(Buffer& buffer, int64_t rows, int64_t k) {
  const int64_t row_bytes = Int8Panel::depth_of(k) + 64;
  std::byte* memory = buffer.at_least(rows * (row_bytes + 4));
  return {.quants = reinterpret_cast<int8_t*>(memory),
          .row_bytes = row_bytes,
          .scales = reinterpret_cast<float*>(memory + rows * row_bytes)};
}

/// Rows of a in one pass.
int64_t rows_at_once(int64_t k) {
  const int64_t bytes = std::max(kInt8Depth, Int8Panel::depth_of(k));
  return std::max<int64_t>(1, kBytesAtOnce / bytes / kPieceRows) * kPieceRows;
}

/// A product's part in what is done for several, of some rows of a.
class Product {
 public:
  Product(const Int8Product& product, const Int8Kernel& kernel, int64_t first_row, int64_t rows)
      : kernel_(kernel),
        panels_(product.weight->panels.get()),
        depth_(Int8Panel::depth_of(product.weight->cols)),
        bias_(product.bias->defined() ? product.bias->data<float>() : nullptr),
        c_(*product.c),
        first_row_(first_row),
        m_(rows),
        n_(product.weight->rows),
        piece_panels_(piece_panels()) {}

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

  int64_t piece_panels() const {
    const int64_t bytes = Int8Panel::bytes(depth_), rows = std::min(m_, kPieceRows);
    const int64_t most = std::max<int64_t>(1, kPieceBytes / bytes);
    if (thread_count() == 1) return most;
    const int64_t least = ceil_div(rows < kFewRows ? kLeastBytes : kLeastProducts / rows, bytes);
    const int64_t share = ceil_div(panels() * row_pieces(), kPiecesPerThread * thread_count());
    return std::min(most, std::max(least, share));
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
  std::byte* panels_;
  const int64_t depth_;
  const float* bias_;
  Tensor& c_;
  const int64_t first_row_, m_, n_, piece_panels_;
};

/// Columns `rows` of quants, of which the panel has at most 32, as they stand in it.
void fill_panel(const Int8Rows& columns, int64_t count, const Int8Panel& panel) {
  for (int64_t col = 0; col < kInt8Cols; ++col) {
    const int8_t* from = columns.quants + col * columns.row_bytes;
    int8_t* to = panel.quants() + 4 * col;
    int32_t sum = 0;
    for (int64_t k = 0; k < panel.depth; k += 4, to += kInt8QuadBytes) {
      for (int64_t i = 0; i < 4; ++i) {
        to[i] = col < count ? from[k + i] : int8_t{0};
        sum += to[i];
      }
    }
    panel.scales()[col] = col < count ? columns.scales[col] : 0.0f;
    panel.starts()[col] = -kInt8Bias * sum;
  }
}

}  // namespace

PackedInt8 pack_int8(const Tensor& weight) {
  require(weight.cols() <= kMostInt8Cols, "pack_int8: the weight has {} columns, at most {} are",
          weight.cols(), kMostInt8Cols);
  const int64_t depth = Int8Panel::depth_of(weight.cols());
  const int64_t panels = ceil_div(weight.rows(), kInt8Cols), bytes = Int8Panel::bytes(depth);
  PackedInt8 packed{.panels = allocate(static_cast<size_t>(panels * bytes)),
                    .rows = weight.rows(),
                    .cols = weight.cols(),
                    .weight = {}};
  parallel_for(panels, std::max<int64_t>(1, kLeastBytes / bytes), [&](int64_t begin, int64_t end) {
    Buffer quants;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kInt8Cols;
      const Tensor some = weight.row_slice(first, std::min(first + kInt8Cols, weight.rows()));
      Tensor wide = Tensor::empty({some.rows(), some.cols()});
      cpu::dequantize(some, wide);
      const Int8Rows columns = rows_in(quants, kInt8Cols, some.cols());
      quantize_int8(wide, 0, some.rows(), false, columns);
      fill_panel(columns, some.rows(), {packed.panels.get() + panel * bytes, depth});
    }
  });
  return packed;
}

void matmul_int8(const Tensor& a, std::span<const Int8Product> products) {
  visit_floating(a.dtype(), [](auto) {});
  for (const Int8Product& product : products) {
    require(product.weight->panels != nullptr,
            "matmul_int8: the weight was packed by the reference backend");
    visit_floating(product.c->dtype(), [](auto) {});
  }
  if (products.empty()) return;
  const int64_t at_once = rows_at_once(a.cols());
  for (int64_t first = 0; first < a.rows(); first += at_once) {
    const int64_t count = std::min(at_once, a.rows() - first);
    const Int8Kernel& kernel = int8_kernel(count);
    const Int8Rows rows = rows_in(rows_buffer, count, a.cols());
    const Tensor some = a.row_slice(first, first + count);
    parallel_for(count, piece_rows(kLightPiece, a.cols()), [&](int64_t begin, int64_t end) {
      quantize_int8(some, begin, end, kernel.biased, rows);
    });
    const auto part = [&](const Int8Product& product) {
      return Product(product, kernel, first, count);
    };
    int64_t pieces = 0;
    for (const Int8Product& product : products) pieces += part(product).pieces();
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (const Int8Product& product : products) {
        const Product one = part(product);
        for (int64_t i = std::max<int64_t>(begin, 0); i < std::min(end, one.pieces()); ++i)
          one.run(rows, i);
        begin -= one.pieces();
        end -= one.pieces();
      }
    });
  }
}

void matmul_int8(const Tensor& a, const PackedInt8& weight, const Tensor& bias, Tensor& c) {
  const Int8Product product{&weight, &bias, &c};
  cpu::matmul_int8(a, {&product, 1});
}

}  // namespace heed::kernels::cpu
