// The frame around the kernels for blocks: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_blocks.h"

#include <algorithm>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/buffer.h"
#include "heed/kernels/cpu/matmul_blocks_kernels.h"
#include "heed/kernels/cpu/matmul_blocks_pack.h"
#include "heed/kernels/cpu/matmul_blocks_rows.h"
#include "heed/kernels/cpu/pieces.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Bytes of a weight that one thread reads at a time: worth waking another for.
constexpr int64_t kPieceBytes = 64 << 10;
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

class Product {
 public:
  Product(const Tensor& a, const PackedBlocks& weight, const Tensor& bias, Tensor& c)
      : kernel_(block_kernel(a.rows())),
        layout_(weight.dtype, weight.cols),
        a_(a),
        weight_(weight),
        bias_(bias.defined() ? bias.data<float>() : nullptr),
        c_(c),
        m_(a.rows()),
        n_(weight.rows) {}

  void run() const {
    const int64_t together = std::min(kernel_.together, round_up(m_, kernel_.row_multiple));
    const QuantizedRows rows = rows_in(rows_buffer, round_up(m_, together), together, weight_.cols);
    const RowSums sums{.any = kernel_.reads_starts || layout_.dtype == DType::q4_1,
                       .bias = quant_bias(layout_.dtype),
                       .halves = layout_.dtype == DType::q6_K};
    parallel_for(m_, piece_rows(kLightPiece, weight_.cols), [&](int64_t begin, int64_t end) {
      quantize_activations(a_, begin, end, sums, rows);
    });
    clear_rest(rows);
    const int64_t panels = ceil_div(n_, kPanelCols);
    const int64_t grain = m_ < kPanelCols ? kPieceBytes / std::max<int64_t>(1, layout_.bytes)
                                          : std::min(kMostPanels, panels / kPieces);
    parallel_for(panels, std::max<int64_t>(1, grain),
                 [&](int64_t begin, int64_t end) { run_panels(rows, begin, end); });
  }

 private:
  /// Those behind the last row, which kernels may read.
  void clear_rest(const QuantizedRows& rows) const {
    const int64_t first = m_ % rows.together;
    if (first == 0) return;
    float* scales = rows.from(m_ - first).scales;
    for (int64_t at = 0; at < rows.blocks; ++at)
      std::fill(scales + at * rows.together + first, scales + (at + 1) * rows.together, 0.0f);
  }

  void run_panels(const QuantizedRows& rows, int64_t begin, int64_t end) const {
    const int64_t stride = (end - begin) * kPanelCols;
    auto* sums = reinterpret_cast<float*>(sums_buffer.at_least(
        round_up(std::min(m_, kernel_.rows), kernel_.row_multiple) * stride * 4));
    for (int64_t row = 0; row < m_; row += kernel_.rows) {
      const int64_t count = std::min(kernel_.rows, m_ - row);
      kernel_.multiply({.a = rows.from(row),
                        .rows = count,
                        .layout = layout_,
                        .panel = weight_.panels.get() + begin * layout_.bytes,
                        .panels = end - begin,
                        .sums = sums,
                        .stride = stride});
      const int64_t col = begin * kPanelCols, cols = std::min(stride, n_ - col);
      visit_floating(c_.dtype(), [&](auto zero) {
        for (int64_t r = 0; r < count; ++r)
          finish(sums + r * stride, col, cols, c_.data<decltype(zero)>() + (row + r) * n_ + col);
      });
    }
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
  const Tensor& a_;
  const PackedBlocks& weight_;
  const float* bias_;
  Tensor& c_;
  const int64_t m_, n_;
};

}  // namespace

PackedBlocks pack_blocks(const Tensor& weight) {
  require(multiplies_blocks(weight.dtype()), "pack_blocks: the weight is {}, expected blocks",
          name_of(weight.dtype()));
  const PanelLayout layout(weight.dtype(), weight.cols());
  const int64_t panels = ceil_div(weight.rows(), kPanelCols);
  auto memory = allocate(static_cast<size_t>(panels * layout.bytes));
  parallel_for(panels, std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, layout.bytes)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t panel = begin; panel < end; ++panel)
                   pack_block_panel(weight, layout, panel, memory.get() + panel * layout.bytes);
               });
  return {.panels = std::move(memory),
          .dtype = weight.dtype(),
          .rows = weight.rows(),
          .cols = weight.cols(),
          .weight = {}};
}

void matmul_blocks(const Tensor& a, const PackedBlocks& weight, const Tensor& bias, Tensor& c) {
  require(weight.panels != nullptr,
          "matmul_blocks: the weight was packed by the reference backend");
  visit_floating(a.dtype(), [](auto) {});
  visit_floating(c.dtype(), [](auto) {});
  if (c.elements() == 0) return;
  for (int64_t row = 0; row < a.rows(); row += kRowsAtOnce) {
    const int64_t end = std::min(a.rows(), row + kRowsAtOnce);
    Tensor part = c.row_slice(row, end);
    Product(a.row_slice(row, end), weight, bias, part).run();
  }
}

}  // namespace heed::kernels::cpu
