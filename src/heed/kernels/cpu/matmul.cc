// The frame around the innermost kernels: packing, blocking, threads, edges.
#include "heed/kernels/matmul.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/matmul_kernel.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kBlockBytes =
    384 << 10;                  // of panels of one factor: two such blocks fit a level-2 cache
constexpr double kSmall = 4e6;  // operations below which waking threads does not pay
constexpr int64_t kLargestTile = 64 * 64;

int64_t panels(int64_t size, int64_t of) { return (size + of - 1) / of; }

/// Panels of one factor in memory of the pool.
std::shared_ptr<std::byte> pack_panels(int64_t count, int64_t bytes, bool parallel,
                                       const std::function<void(int64_t, std::byte*)>& pack_one) {
  std::shared_ptr<std::byte> memory =
      allocate(static_cast<size_t>(std::max<int64_t>(count * bytes, 1)));
  parallel_for(count, parallel ? 1 : count, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) pack_one(panel, memory.get() + panel * bytes);
  });
  return memory;
}

/// c [M, N] (+)= the product of packed factors.
struct Product {
  const MatmulKernel& kernel;
  int64_t m, n, k;
  const std::byte *a, *b;
  int64_t a_bytes, b_bytes;  // of a panel
  const MatmulOptions& options;
  Tensor& c;

  const float* bias(int64_t col) const {
    return options.bias.defined() ? options.bias.data<float>() + col : nullptr;
  }

  template <typename T>
  void tile(int64_t row_panel, int64_t col_panel) const {
    const int64_t row = row_panel * kernel.mr, col = col_panel * kernel.nr;
    const int64_t rows = std::min(kernel.mr, m - row), cols = std::min(kernel.nr, n - col);
    T* to = c.data<T>() + row * n + col;
    const std::byte* from_a = a + row_panel * a_bytes;
    const std::byte* from_b = b + col_panel * b_bytes;
    if constexpr (std::is_same_v<T, float>) {
      if (cols == kernel.nr && !options.bias.defined()) {
        kernel.multiply(k, from_a, from_b, to, n, rows, options.accumulate);
        return;
      }
    }
    alignas(64) float buffer[kLargestTile];
    if (options.accumulate)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < kernel.nr; ++j)
          buffer[r * kernel.nr + j] = j < cols ? static_cast<float>(to[r * n + j]) : 0.0f;
    kernel.multiply(k, from_a, from_b, buffer, kernel.nr, rows, options.accumulate);
    finish_tile({buffer, kernel.nr, bias(col), rows, cols, n}, to);
  }

  /// Blocks of row panels by column panels; a block's panels of b stay in the cache while those of
  /// a pass.
  void run() const {
    const int64_t row_panels = panels(m, kernel.mr), col_panels = panels(n, kernel.nr);
    const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
    const int64_t row_block =
        std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(a_bytes, 1), 1, row_panels);
    int64_t col_block =
        std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(b_bytes, 1), 1, col_panels);
    const int64_t row_blocks = panels(row_panels, row_block);
    // At least a few pieces for every thread.
    while (col_block > 1 && row_blocks * panels(col_panels, col_block) < 4 * thread_count())
      col_block = (col_block + 1) / 2;
    const int64_t col_blocks = panels(col_panels, col_block);
    const int64_t blocks = row_blocks * col_blocks;
    parallel_for(blocks, operations < kSmall ? blocks : 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        run_block(block / col_blocks * row_block, block % col_blocks * col_block, row_block,
                  col_block);
    });
  }

  void run_block(int64_t first_row, int64_t first_col, int64_t row_block, int64_t col_block) const {
    const int64_t last_row = std::min(first_row + row_block, panels(m, kernel.mr));
    const int64_t last_col = std::min(first_col + col_block, panels(n, kernel.nr));
    for (int64_t col = first_col; col < last_col; ++col)
      for (int64_t row = first_row; row < last_row; ++row) {
        if (c.dtype() == DType::f32)
          tile<float>(row, col);
        else
          tile<bfloat16>(row, col);
      }
  }
};

void multiply(const Factor& a, const std::byte* packed_b, const MatmulOptions& options, Tensor& c) {
  const MatmulKernel& kernel = kernel_for(a.matrix.dtype());
  const int64_t m = a.rows(), k = a.cols(), n = c.cols();
  if (m == 0 || n == 0) return;
  const MatrixView view(a);
  const int64_t a_bytes = kernel.a_panel_bytes(k);
  const bool parallel = static_cast<double>(m * k) > 1e5;
  const auto packed_a = pack_panels(
      panels(m, kernel.mr), a_bytes, parallel,
      [&](int64_t panel, std::byte* to) { kernel.pack_a(view, panel * kernel.mr, to); });
  Product{kernel, m, n, k, packed_a.get(), packed_b, a_bytes, kernel.b_panel_bytes(k), options, c}
      .run();
}

}  // namespace

MatrixView::MatrixView(const Factor& factor)
    : data(factor.matrix.raw()),
      dtype(factor.matrix.dtype()),
      rows(factor.rows()),
      cols(factor.cols()),
      row_stride(factor.transposed ? 1 : factor.matrix.cols()),
      col_stride(factor.transposed ? factor.matrix.cols() : 1) {}

const MatmulKernel& kernel_for(DType dtype) {
  if (dtype == DType::bf16)
    if (const MatmulKernel* amx = amx_kernel()) return *amx;
  return f32_kernel();
}

PackedMatrix pack(const Factor& b) {
  const MatmulKernel& kernel = kernel_for(b.matrix.dtype());
  const int64_t k = b.rows(), n = b.cols(), bytes = kernel.b_panel_bytes(k);
  const int64_t count = panels(n, kernel.nr);
  const MatrixView view(b);
  auto memory = pack_panels(
      count, bytes, static_cast<double>(n * k) > 1e5,
      [&](int64_t panel, std::byte* to) { kernel.pack_b(view, panel * kernel.nr, to); });
  return {Tensor::view({count, bytes / 4}, DType::f32, std::move(memory)), k, n};
}

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  const PackedMatrix packed = cpu::pack(b);
  multiply(a, packed.panels.raw(), options, c);
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  multiply({a}, b.panels.raw(), options, c);
}

}  // namespace heed::kernels::cpu

namespace heed::kernels {

bool multiplies_bf16_faster() { return cpu::amx_kernel() != nullptr; }

}  // namespace heed::kernels
