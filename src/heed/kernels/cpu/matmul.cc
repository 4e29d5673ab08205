// The frame around the micro-kernels: packing, blocks that fit the caches, threads, edges.
#include "heed/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/matmul_kernels.h"
#include "heed/kernels/cpu/matmul_plan.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kMostCols = 64;  // of any micro-kernel

/// Memory of a thread that grows and is kept from one product to the next.
class Buffer {
 public:
  std::byte* at_least(int64_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      memory_ = allocate(static_cast<size_t>(bytes));
      size_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::shared_ptr<std::byte> memory_;
  int64_t size_ = 0;
};

struct ThreadBuffers {
  Buffer rows;  // a block of a
  Buffer sums;  // f32 sums that cannot be kept in c
  Buffer edge;  // the finished columns of a panel that reaches over the edge of c
};
thread_local ThreadBuffers buffers;

/// c (+)= a b for a packed b.
class Product {
 public:
  Product(const MicroKernel& kernel, const Factor& a, const std::byte* panels,
          const MatmulOptions& options, Tensor& c)
      : kernel_(kernel),
        a_(a),
        panels_(panels),
        c_(c),
        bias_(options.bias.defined() ? options.bias.data<float>() : nullptr),
        accumulate_(options.accumulate),
        n_(c.cols()),
        plan_(plan(kernel, a.rows(), a.cols(), n_, thread_count())) {
    const int64_t edge = n_ / kernel.cols * kernel.cols;
    if (bias_) std::copy(bias_ + edge, bias_ + n_, edge_bias_.begin());
  }

  void run() {
    parallel_for(plan_.tasks(), plan_.parallel ? 1 : plan_.tasks(),
                 [this](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) run_task(plan_.task(task));
                   if (kernel_.finish) kernel_.finish();
                 });
  }

 private:
  /// Where the sums of a strip of c are between passes over K.
  struct Sums {
    float* data;
    int64_t stride;
  };

  bool whole(int64_t col) const { return col + kernel_.cols <= n_; }

  std::byte* c_at(int64_t row, int64_t col) const {
    return c_.raw() + (row * n_ + col) * size_of(c_.dtype());
  }

  Sums sums_of(const Task& task, int64_t col) const {
    if (c_.dtype() == DType::f32 && whole(col))
      return {reinterpret_cast<float*>(c_at(task.row, col)), n_};
    // One strip may serve all panels where a single pass over K finishes each of them.
    const bool once = a_.cols <= kernel_.depth;
    const int64_t strip = once ? 0 : (col - task.col) / kernel_.cols;
    const int64_t strips = once ? 1 : (task.cols + kernel_.cols - 1) / kernel_.cols;
    auto* data = reinterpret_cast<float*>(
        buffers.sums.at_least(strips * task.rows * kernel_.cols * size_of(DType::f32)));
    return {data + strip * task.rows * kernel_.cols, kernel_.cols};
  }

  void run_task(const Task& task) const {
    std::byte* rows = buffers.rows.at_least(kernel_.packed_rows_bytes(task.rows));
    int64_t k = 0;
    do {
      const int64_t depth = std::min(kernel_.depth, a_.cols - k);
      const PackedRows packed = kernel_.pack_rows(a_, {task.row, task.rows, k, depth}, rows);
      for (int64_t col = task.col; col < task.col + task.cols; col += kernel_.cols)
        run_strip(task, packed, k, depth, col);
      k += depth;
    } while (k < a_.cols);
  }

  void run_strip(const Task& task, const PackedRows& rows, int64_t k, int64_t depth,
                 int64_t col) const {
    const Sums sums = sums_of(task, col);
    const std::byte* panel = panels_ + (col / kernel_.cols) * kernel_.panel_bytes(a_.cols) +
                             k * kernel_.cols * size_of(kernel_.panel_type);
    Strip strip{.a = rows,
                .panel = panel,
                .rows = task.rows,
                .depth = depth,
                .start = sums.data,
                .start_stride = sums.stride,
                .c = reinterpret_cast<std::byte*>(sums.data),
                .c_type = DType::f32,
                .c_stride = sums.stride};
    if (k == 0) set_start(task, col, sums, strip);
    const bool last = k + depth == a_.cols;
    if (last && whole(col)) {
      strip.c = c_at(task.row, col);
      strip.c_type = c_.dtype();
      strip.c_stride = n_;
    } else if (last) {
      strip.c = buffers.edge.at_least(task.rows * kernel_.cols * size_of(DType::f32));
      strip.c_type = c_.dtype();
      strip.c_stride = kernel_.cols;
    }
    kernel_.multiply(strip);
    if (last && !whole(col)) copy_edge(task, col, strip.c);
  }

  /// What the sums of a strip start from, before the first k.
  void set_start(const Task& task, int64_t col, const Sums& sums, Strip& strip) const {
    const int64_t cols = std::min(kernel_.cols, n_ - col);
    if (!accumulate_ && !bias_) {
      strip.start = nullptr;
      strip.start_stride = 0;
    } else if (!accumulate_ && whole(col)) {
      strip.start = bias_ + col;
      strip.start_stride = 0;
    } else if (!accumulate_) {
      strip.start = edge_bias_.data();
      strip.start_stride = 0;
    } else if (bias_ || c_.dtype() != DType::f32 || !whole(col)) {
      visit_floating(c_.dtype(), [&](auto zero) {
        using T = decltype(zero);
        for (int64_t r = 0; r < task.rows; ++r) {
          const T* from = reinterpret_cast<const T*>(c_at(task.row + r, col));
          float* to = sums.data + r * sums.stride;
          for (int64_t j = 0; j < cols; ++j)
            to[j] =
                bias_ ? static_cast<float>(from[j]) + bias_[col + j] : static_cast<float>(from[j]);
          std::fill(to + cols, to + kernel_.cols, 0.0f);
        }
      });
    }
  }

  void copy_edge(const Task& task, int64_t col, const std::byte* edge) const {
    const int64_t element = size_of(c_.dtype());
    for (int64_t r = 0; r < task.rows; ++r)
      std::memcpy(c_at(task.row + r, col), edge + r * kernel_.cols * element,
                  static_cast<size_t>((n_ - col) * element));
  }

  const MicroKernel& kernel_;
  const MatrixView a_;
  const std::byte* panels_;
  Tensor& c_;
  const float* bias_;
  const bool accumulate_;
  const int64_t n_;
  const Plan plan_;
  std::array<float, kMostCols> edge_bias_{};  // of the panel that reaches over the edge
};

/// All panels of b, passes over K outermost, so that the rows of b are read together.
std::shared_ptr<std::byte> pack_panels(const MicroKernel& kernel, const Factor& b) {
  const MatrixView view(b);
  const int64_t panels = (view.cols + kernel.cols - 1) / kernel.cols;
  const int64_t bytes = kernel.panel_bytes(view.rows);
  auto memory = allocate(static_cast<size_t>(std::max<int64_t>(panels * bytes, 1)));
  const int64_t passes = (view.rows + kernel.depth - 1) / kernel.depth;
  constexpr int64_t kPiece = int64_t{1} << 16;  // elements
  const int64_t grain = std::max<int64_t>(1, kPiece / (kernel.cols * kernel.depth));
  parallel_for(passes * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i / panels * kernel.depth, panel = i % panels;
      kernel.pack_panel(
          view, k, std::min(kernel.depth, view.rows - k), panel * kernel.cols,
          memory.get() + panel * bytes + k * kernel.cols * size_of(kernel.panel_type));
    }
  });
  return memory;
}

}  // namespace

PackedMatrix pack(const Factor& b) {
  const MicroKernel& kernel = kernel_for(b.matrix.dtype());
  const int64_t panels = (b.cols() + kernel.cols - 1) / kernel.cols;
  const int64_t elements = kernel.panel_bytes(b.rows()) / size_of(kernel.panel_type);
  return {.panels = Tensor::view({panels, elements}, kernel.panel_type, pack_panels(kernel, b)),
          .rows = b.rows(),
          .cols = b.cols(),
          .kernel = &kernel};
}

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  require(a.matrix.dtype() == b.matrix.dtype(), "matmul: a is {}, b is {}, expected one dtype",
          name_of(a.matrix.dtype()), name_of(b.matrix.dtype()));
  if (c.elements() == 0) return;
  const MicroKernel& kernel = kernel_for(a.matrix.dtype());
  const std::shared_ptr<std::byte> panels = pack_panels(kernel, b);
  Product(kernel, a, panels.get(), options, c).run();
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  require(b.kernel, "matmul_packed: b was packed by the reference backend");
  require(b.kernel->panel_type == DType::f32 || a.dtype() == DType::bf16,
          "matmul_packed: a is {}, b was packed as bf16", name_of(a.dtype()));
  if (c.elements() == 0) return;
  Product(*b.kernel, {a}, b.panels.raw(), options, c).run();
}

}  // namespace heed::kernels::cpu
