// Drives the kernels for blocks: packing, quantising rows, threads, edges.
#include "heed/kernels/matmul_blocks.h"

#include <algorithm>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/grouped.h"
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/gemm_blocks/pack.h"
#include "heed/kernels/cpu/gemm_blocks/rows.h"
#include "heed/kernels/cpu/simd/buffer.h"
#include "heed/kernels/cpu/simd/grain.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

// Bytes of a weight per chunk: worth waking a thread for.
constexpr int64_t kChunkBytes = 32 << 10;
// Panels per chunk of many rows: enough that c is written in long runs, and few enough that each
// thread gets several chunks. A narrow weight has fewer chunks, since two panels at a time are
// faster than two one after the other.
constexpr int64_t kMinPanels = 2, kMaxPanels = 8, kMinChunks = 16;
// Elements of activations that a chunk quantises: few, so that all threads finish together.
constexpr int64_t kQuantiseGrain = int64_t{1} << 13;
// Quants of a in one pass, in bytes, unless BlockKernel::pass_rows have more. The test
// SeveralPassesHaveTheBitsOfTheReference needs more rows than a pass has.
constexpr int64_t kPassBytes = 512 << 10;

thread_local Buffer rows_buffer, sums_buffer;

/// Room for `rows` rows of activations, a multiple of `interleave`.
QuantizedRows rows_in(Buffer& buffer, int64_t rows, int64_t interleave, int64_t k) {
  const int64_t blocks = k / kProductBlock, numbers = rows * blocks * 4;
  std::byte* memory = buffer.at_least(rows * k + 5 * numbers);
  return {.blocks = blocks,
          .interleave = interleave,
          .quants = reinterpret_cast<int8_t*>(memory),
          .scales = reinterpret_cast<float*>(memory + rows * k),
          .sums = reinterpret_cast<float*>(memory + rows * k + numbers),
          .initial = reinterpret_cast<int32_t*>(memory + rows * k + 3 * numbers)};
}

/// The product of rows [first_row, first_row + rows) of a with one weight.
class Work {
 public:
  Work(const BlockProduct& product, int64_t first_row, int64_t rows)
      : kernel_(block_kernel(rows)),
        layout_(product.weight->dtype, product.weight->cols),
        panels_(product.weight->panels.get()),
        bias_(product.bias->defined() ? product.bias->data<float>() : nullptr),
        c_(*product.c),
        first_row_(first_row),
        m_(rows),
        n_(product.weight->rows) {}

  /// Of chunk_panels() panels each.
  int64_t chunks() const { return ceil_div(ceil_div(n_, kPanelCols), chunk_panels()); }

  void run(const QuantizedRows& rows, int64_t chunk) const {
    const int64_t begin = chunk * chunk_panels(), col = begin * kPanelCols;
    const int64_t panels = std::min(chunk_panels(), ceil_div(n_, kPanelCols) - begin);
    const int64_t cols = std::min(panels * kPanelCols, n_ - col);
    for (int64_t row = 0; row < m_; row += kernel_.max_rows) {
      BlockStrip strip{.a = rows.from(row),
                       .rows = std::min(kernel_.max_rows, m_ - row),
                       .layout = layout_,
                       .panel = panels_ + begin * layout_.bytes,
                       .panels = panels,
                       .sums = nullptr,
                       .stride = panels * kPanelCols,
                       .first = row == 0};
      const int64_t to = (first_row_ + row) * n_ + col;
      if (cols == strip.stride && sums_are_results()) {
        strip.sums = c_.data<float>() + to;
        strip.stride = n_;
        kernel_.multiply(strip);
      } else {
        strip.sums = reinterpret_cast<float*>(
            sums_buffer.at_least(round_up(strip.rows, kernel_.row_multiple) * strip.stride * 4));
        kernel_.multiply(strip);
        visit_floating(c_.dtype(), [&](auto zero) {
          for (int64_t r = 0; r < strip.rows; ++r)
            finish(strip.sums + r * strip.stride, col, cols,
                   c_.data<decltype(zero)>() + to + r * n_);
        });
      }
    }
  }

 private:
  /// Whether a kernel can write its sums of whole panels to c. One with a row_multiple of more than
  /// 1 writes beyond the last row.
  bool sums_are_results() const {
    return !bias_ && c_.dtype() == DType::f32 && kernel_.row_multiple == 1;
  }

  int64_t chunk_panels() const {
    if (m_ < kPanelCols)
      return std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, layout_.bytes));
    return std::clamp(n_ / kPanelCols / kMinChunks, kMinPanels, kMaxPanels);
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

/// Rows of a in one pass.
int64_t pass_rows(const BlockKernel& kernel, int64_t k) {
  return rows_per_pass(kernel.pass_rows, std::max(kProductBlock, k), kPassBytes);
}

/// Zeros the scales of the rows after the last one of its group, which kernels may read.
void clear_rest(const QuantizedRows& rows, int64_t count) {
  const int64_t first = count % rows.interleave;
  if (first == 0) return;
  float* scales = rows.from(count - first).scales;
  for (int64_t at = 0; at < rows.blocks; ++at)
    std::fill(scales + at * rows.interleave + first, scales + (at + 1) * rows.interleave, 0.0f);
}

/// a in the layout of the kernel for so many rows and a weight of this type.
QuantizedRows quantize(const Tensor& a, const BlockTraits& weight) {
  const BlockKernel& kernel = block_kernel(a.rows());
  const int64_t interleave = std::min(kernel.interleave, round_up(a.rows(), kernel.row_multiple));
  const QuantizedRows rows =
      rows_in(rows_buffer, round_up(a.rows(), interleave), interleave, a.cols());
  const RowSums sums{.any = kernel.reads_initial || weight.has_minimum,
                     .bias = quant_bias(weight),
                     .halves = has_halves(weight)};
  parallel_for(a.rows(), grain_rows(kQuantiseGrain, a.cols()), [&](int64_t begin, int64_t end) {
    quantize_activations(a, begin, end, sums, rows);
  });
  clear_rest(rows, a.rows());
  return rows;
}

/// Memory for the packed weight.
PackedBlocks allocate_packed(const Tensor& weight) {
  require(multiplies_blocks(weight.dtype()), "pack_blocks: the weight is {}, expected blocks",
          name_of(weight.dtype()));
  const PanelLayout layout(weight.dtype(), weight.cols());
  const int64_t bytes = ceil_div(weight.rows(), kPanelCols) * layout.bytes;
  return {.panels = allocate(static_cast<size_t>(bytes)),
          .panel_bytes = bytes,
          .dtype = weight.dtype(),
          .rows = weight.rows(),
          .cols = weight.cols()};
}

void pack_panels(const Tensor& weight, int64_t begin, int64_t end, std::byte* to) {
  const PanelLayout layout(weight.dtype(), weight.cols());
  for (int64_t panel = begin; panel < end; ++panel) {
    const bool whole = (panel + 1) * kPanelCols <= weight.rows();
    std::byte* const own = to + panel * layout.bytes;
    std::fill(own + layout.scales_end(), own + layout.quants, std::byte{0});
    (whole ? pack_whole_panel : pack_block_panel)(weight, layout, panel, own);
  }
}

}  // namespace

std::vector<PackedBlocks> pack_blocks_grouped(std::span<const Tensor> weights) {
  std::vector<PackedBlocks> packed;
  int64_t panels = 0, max_bytes = 1;
  for (const Tensor& weight : weights) {
    packed.push_back(allocate_packed(weight));
    panels += ceil_div(weight.rows(), kPanelCols);
    max_bytes = std::max(max_bytes, PanelLayout(weight.dtype(), weight.cols()).bytes);
  }
  // A thread writes neighbouring panels, so that the system clears their pages, which may be large,
  // once.
  parallel_for(panels, std::max<int64_t>(1, kChunkBytes / max_bytes),
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
  check_products("matmul_blocks", a, products);
  while (!products.empty()) {
    const DType dtype = products[0].weight->dtype;
    const auto other = std::ranges::find_if(
        products, [&](const BlockProduct& product) { return product.weight->dtype != dtype; });
    const auto same = products.first(static_cast<size_t>(other - products.begin()));
    multiply_grouped(
        a, pass_rows(block_kernel(a.rows()), a.cols()), same.size(),
        [&](const Tensor& rows) { return quantize(rows, traits_of(dtype)); },
        [&](size_t i, int64_t first, int64_t rows) { return Work(same[i], first, rows); });
    products = products.subspan(same.size());
  }
}

}  // namespace heed::kernels::cpu
