// The frame around the kernels for blocks: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_blocks.h"

#include <algorithm>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/gemm_blocks/pack.h"
#include "heed/kernels/cpu/gemm_blocks/rows.h"
#include "heed/kernels/cpu/simd/buffer.h"
#include "heed/kernels/cpu/simd/pieces.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Bytes of a weight that one thread reads at a time: worth waking another for.
constexpr int64_t kPieceBytes = 32 << 10;
// Of a in one pass: their quants stay in a level-2 cache while the panels pass.
constexpr int64_t kRowsAtOnce = 256;
// Of a piece of many rows: c is written in longer runs, and there are some pieces for each thread.
constexpr int64_t kMostPanels = 8, kPieces = 16;

thread_local Buffer rows_buffer, sums_buffer;

/// Room for so many rows of activations, a multiple of `together`.
QuantizedRows rows_in(Buffer& buffer, int64_t rows, int64_t together, int64_t k) {
  const int64_t blocks = k / kProductBlock, numbers = rows * blocks * 4;
  std::byte* memory = buffer.at_least(rows * k + 4 * numbers);
  return {.blocks = blocks,
          .together = together,
          .quants = reinterpret_cast<int8_t*>(memory),
          .scales = reinterpret_cast<float*>(memory + rows * k),
          .sums = reinterpret_cast<float*>(memory + rows * k + numbers),
          .starts = reinterpret_cast<int32_t*>(memory + rows * k + 2 * numbers)};
}

/// A product's part in what is done for several, of at most kRowsAtOnce rows of a.
class Product {
 public:
  Product(const BlockProduct& product, const BlockKernel& kernel, int64_t first_row, int64_t rows)
      : kernel_(kernel),
        layout_(product.weight->dtype, product.weight->cols),
        panels_(product.weight->panels.get()),
        bias_(product.bias->defined() ? product.bias->data<float>() : nullptr),
        c_(*product.c),
        first_row_(first_row),
        m_(rows),
        n_(product.weight->rows) {}

  /// Of some panels each, for threads to take.
  int64_t pieces() const { return ceil_div(ceil_div(n_, kPanelCols), piece_panels()); }

  void run(const QuantizedRows& rows, int64_t piece) const {
    const int64_t begin = piece * piece_panels();
    const int64_t panels = std::min(piece_panels(), ceil_div(n_, kPanelCols) - begin);
    const int64_t stride = panels * kPanelCols;
    auto* sums = reinterpret_cast<float*>(sums_buffer.at_least(
        round_up(std::min(m_, kernel_.rows), kernel_.row_multiple) * stride * 4));
    for (int64_t row = 0; row < m_; row += kernel_.rows) {
      const int64_t count = std::min(kernel_.rows, m_ - row);
      kernel_.multiply({.a = rows.from(row),
                        .rows = count,
                        .layout = layout_,
                        .panel = panels_ + begin * layout_.bytes,
                        .panels = panels,
                        .sums = sums,
                        .stride = stride});
      const int64_t col = begin * kPanelCols, cols = std::min(stride, n_ - col);
      visit_floating(c_.dtype(), [&](auto zero) {
        auto* to = c_.data<decltype(zero)>() + (first_row_ + row) * n_ + col;
        for (int64_t r = 0; r < count; ++r) finish(sums + r * stride, col, cols, to + r * n_);
      });
    }
  }

 private:
  int64_t piece_panels() const {
    const int64_t panels = m_ < kPanelCols ? kPieceBytes / std::max<int64_t>(1, layout_.bytes)
                                           : std::min(kMostPanels, n_ / kPanelCols / kPieces);
    return std::max<int64_t>(1, panels);
  }

  template <typename T>
  void finish(const float* sums, int64_t col, int64_t cols, T* to) const {
    if (bias_)
      for (int64_t i = 0; i < cols; ++i) to[i] = T(sums[i] + bias_[col + i]);
    else
      for (int64_t i = 0; i < cols; ++i) to[i] = T(sums[i]);
  }

  const BlockKernel& kernel_;
  const PanelLayout layout_;
  const std::byte* panels_;
  const float* bias_;
  Tensor& c_;
  const int64_t first_row_, m_, n_;
};

/// Rows behind the last one, which kernels may read.
void clear_rest(const QuantizedRows& rows, int64_t count) {
  const int64_t first = count % rows.together;
  if (first == 0) return;
  float* scales = rows.from(count - first).scales;
  for (int64_t at = 0; at < rows.blocks; ++at)
    std::fill(scales + at * rows.together + first, scales + (at + 1) * rows.together, 0.0f);
}

/// a as a kernel wants it beside weights of a type.
QuantizedRows quantize(const Tensor& a, const BlockKernel& kernel, DType weight) {
  const int64_t together = std::min(kernel.together, round_up(a.rows(), kernel.row_multiple));
  const QuantizedRows rows = rows_in(rows_buffer, round_up(a.rows(), together), together, a.cols());
  const RowSums sums{.any = kernel.reads_starts || weight == DType::q4_1,
                     .bias = quant_bias(weight),
                     .halves = weight == DType::q6_K};
  parallel_for(a.rows(), piece_rows(kLightPiece, a.cols()), [&](int64_t begin, int64_t end) {
    quantize_activations(a, begin, end, sums, rows);
  });
  clear_rest(rows, a.rows());
  return rows;
}

/// Products with weights of one type.
void multiply(const Tensor& a, std::span<const BlockProduct> products) {
  const DType dtype = products[0].weight->dtype;
  for (int64_t first = 0; first < a.rows(); first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, a.rows() - first);
    const BlockKernel& kernel = block_kernel(count);
    const QuantizedRows rows = quantize(a.row_slice(first, first + count), kernel, dtype);
    const auto part = [&](size_t i) { return Product(products[i], kernel, first, count); };
    parallel_over(
        products.size(), [&](size_t i) { return part(i).pieces(); },
        [&](size_t i, int64_t piece) { part(i).run(rows, piece); });
  }
}

/// What becomes the packed weight.
PackedBlocks room_for(const Tensor& weight) {
  require(multiplies_blocks(weight.dtype()), "pack_blocks: the weight is {}, expected blocks",
          name_of(weight.dtype()));
  const PanelLayout layout(weight.dtype(), weight.cols());
  const int64_t panels = ceil_div(weight.rows(), kPanelCols);
  return {.panels = allocate(static_cast<size_t>(panels * layout.bytes)),
          .dtype = weight.dtype(),
          .rows = weight.rows(),
          .cols = weight.cols(),
          .weight = {}};
}

/// Those from `begin` to `end`, if any.
void pack_panels(const Tensor& weight, int64_t begin, int64_t end, std::byte* to) {
  const PanelLayout layout(weight.dtype(), weight.cols());
  for (int64_t panel = begin; panel < end; ++panel) {
    const bool whole = (panel + 1) * kPanelCols <= weight.rows();
    (whole ? pack_whole_panel : pack_block_panel)(weight, layout, panel, to + panel * layout.bytes);
  }
}

}  // namespace

std::vector<PackedBlocks> pack_blocks_grouped(std::span<const Tensor> weights) {
  std::vector<PackedBlocks> packed;
  int64_t panels = 0, most_bytes = 1;
  for (const Tensor& weight : weights) {
    packed.push_back(room_for(weight));
    panels += ceil_div(weight.rows(), kPanelCols);
    most_bytes = std::max(most_bytes, PanelLayout(weight.dtype(), weight.cols()).bytes);
  }
  // Memory is written to in its order: its pages, which may be large, are cleared once.
  parallel_for(panels, std::max<int64_t>(1, kPieceBytes / most_bytes),
               [&](int64_t begin, int64_t end) {
                 for (size_t i = 0; i < weights.size(); ++i) {
                   const int64_t own = ceil_div(weights[i].rows(), kPanelCols);
                   pack_panels(weights[i], std::max<int64_t>(begin, 0), std::min(end, own),
                               packed[i].panels.get());
                   begin -= own;
                   end -= own;
                 }
               });
  return packed;
}

void matmul_blocks_grouped(const Tensor& a, std::span<const BlockProduct> products) {
  visit_floating(a.dtype(), [](auto) {});
  for (const BlockProduct& product : products) {
    require(product.weight->panels != nullptr,
            "matmul_blocks: the weight was packed by the reference backend");
    visit_floating(product.c->dtype(), [](auto) {});
  }
  while (!products.empty()) {
    size_t count = 1;
    while (count < products.size() && products[count].weight->dtype == products[0].weight->dtype)
      ++count;
    multiply(a, products.first(count));
    products = products.subspan(count);
  }
}

}  // namespace heed::kernels::cpu
