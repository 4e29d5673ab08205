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
constexpr int64_t kMostSums = 32 * 32;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

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
  Buffer sums;  // f32 sums between passes over K
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
  /// A part of c as large as the micro-kernel's sums, or several of them beside each other.
  struct Part {
    int64_t row, rows, col, cols;
    float* sums;  // for each panel [kernel.rows, kernel.cols], where passes over K leave them
  };

  std::byte* c_at(int64_t row, int64_t col) const {
    return c_.raw() + (row * n_ + col) * size_of(c_.dtype());
  }

  void run_task(const Task& task) const {
    const int64_t panels = ceil_div(task.cols, kernel_.cols);
    const int64_t group_sums = panels * kernel_.rows * kernel_.cols;
    const int64_t groups = a_.cols <= kernel_.depth ? 1 : ceil_div(task.rows, kernel_.rows);
    auto* sums = reinterpret_cast<float*>(buffers.sums.at_least(groups * group_sums * 4));
    std::byte* rows = buffers.rows.at_least(kernel_.packed_rows_bytes(task.rows));
    const int64_t whole_cols = std::min(task.cols, n_ / kernel_.cols * kernel_.cols - task.col);
    int64_t k = 0;
    do {
      const int64_t depth = std::min(kernel_.depth, a_.cols - k);
      PackedRows packed = kernel_.pack_rows(a_, {task.row, task.rows, k, depth}, rows);
      for (int64_t row = 0; row < task.rows; row += kernel_.rows) {
        Part part{.row = task.row + row,
                  .rows = std::min(kernel_.rows, task.rows - row),
                  .col = task.col,
                  .cols = whole_cols,
                  .sums = sums + (groups == 1 ? 0 : row / kernel_.rows * group_sums)};
        if (whole_cols > 0) run_whole(part, packed, k, depth);
        part.sums += part.cols * kernel_.rows;
        part.col += part.cols;
        part.cols = task.cols - part.cols;
        if (part.cols > 0) run_edge(part, packed, k, depth);
        packed.data += kernel_.rows * packed.row_bytes;
      }
      k += depth;
    } while (k < a_.cols);
  }

  /// A pass over [k, k + depth) from sums to sums, which is what passes in the middle do.
  Strip pass(const Part& part, const PackedRows& rows, int64_t k, int64_t depth) const {
    const int64_t bytes = kernel_.panel_bytes(a_.cols);
    return {.a = rows,
            .rows = part.rows,
            .depth = depth,
            .panel = panels_ + part.col / kernel_.cols * bytes +
                     k * kernel_.cols * size_of(kernel_.panel_type),
            .panel_bytes = bytes,
            .panels = ceil_div(part.cols, kernel_.cols),
            .start = part.sums,
            .start_stride = kernel_.cols,
            .start_step = kernel_.rows * kernel_.cols,
            .c = reinterpret_cast<std::byte*>(part.sums),
            .c_type = DType::f32,
            .c_stride = kernel_.cols,
            .c_step = kernel_.rows * kernel_.cols};
  }

  /// A pass over panels that lie within c.
  void run_whole(const Part& part, const PackedRows& rows, int64_t k, int64_t depth) const {
    Strip strip = pass(part, rows, k, depth);
    if (k == 0 && accumulate_ && !bias_ && c_.dtype() == DType::f32) {
      strip.start = reinterpret_cast<const float*>(c_at(part.row, part.col));
      strip.start_stride = n_;
      strip.start_step = kernel_.cols;
    } else if (k == 0 && accumulate_) {
      sum_c_and_bias(part);
    } else if (k == 0) {
      strip.start = bias_ ? bias_ + part.col : nullptr;
      strip.start_stride = 0;
      strip.start_step = kernel_.cols;
    }
    if (k + depth == a_.cols) {
      strip.c = c_at(part.row, part.col);
      strip.c_type = c_.dtype();
      strip.c_stride = n_;
      strip.c_step = kernel_.cols;
    }
    kernel_.multiply(strip);
  }

  /// A pass over the panel that reaches over the edge of c.
  void run_edge(const Part& part, const PackedRows& rows, int64_t k, int64_t depth) const {
    Strip strip = pass(part, rows, k, depth);
    if (k == 0 && accumulate_) {
      sum_c_and_bias(part);
    } else if (k == 0) {
      strip.start = bias_ ? edge_bias_.data() : nullptr;
      strip.start_stride = 0;
    }
    if (k + depth < a_.cols) {
      kernel_.multiply(strip);
      return;
    }
    alignas(64) std::byte finished[kMostSums * sizeof(float)];
    strip.c = finished;
    strip.c_type = c_.dtype();
    kernel_.multiply(strip);
    const int64_t element = size_of(c_.dtype());
    for (int64_t r = 0; r < part.rows; ++r)
      std::memcpy(c_at(part.row + r, part.col), finished + r * kernel_.cols * element,
                  static_cast<size_t>(part.cols * element));
  }

  /// sums = c + bias
  void sum_c_and_bias(const Part& part) const {
    visit_floating(c_.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (int64_t j = 0; j < part.cols; ++j) {
        const T* from = reinterpret_cast<const T*>(c_at(part.row, part.col + j));
        const float bias = bias_ ? bias_[part.col + j] : 0.0f;
        float* to = part.sums + j / kernel_.cols * kernel_.rows * kernel_.cols + j % kernel_.cols;
        for (int64_t r = 0; r < part.rows; ++r)
          to[r * kernel_.cols] = static_cast<float>(from[r * n_]) + bias;
      }
    });
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
