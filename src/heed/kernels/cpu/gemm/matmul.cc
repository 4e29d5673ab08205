// Drives the micro-kernels: packing, blocks that fit the caches, threads, edges.
#include "heed/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/kernels.h"
#include "heed/kernels/cpu/gemm/plan.h"
#include "heed/kernels/cpu/simd/buffer.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kMaxCols = 64;  // of any micro-kernel
constexpr int64_t kMaxSums = 32 * 32;
constexpr std::array<float, kMaxCols> kNoBias{};
// Bytes of b that are packed for all tasks at a time, so that a large b is not copied whole.
constexpr int64_t kMaxPanelBytes = int64_t{8} << 20;

struct ThreadBuffers {
  Buffer rows;    // of a
  Buffer panels;  // of b
  Buffer sums;    // f32, between passes over K
};
thread_local ThreadBuffers buffers;

/// A right factor from which panels are packed: as given, or the f32 panels of a PackedMatrix.
class UnpackedFactor {
 public:
  explicit UnpackedFactor(const Factor& b) : view_(b) {}
  explicit UnpackedFactor(const PackedMatrix& b)
      : view_(b.panels.raw(), b.rows, b.kernel->cols), f32_panels_(true) {}

  int64_t rows() const { return view_.rows; }
  /// Null: b is as given.
  const std::byte* f32_panels() const { return f32_panels_ ? view_.data : nullptr; }

  /// MicroKernel::pack_panels.
  void pack(const MicroKernel& kernel, PanelBlock block, std::byte* to, int64_t panel_bytes) const {
    if (!f32_panels_) return kernel.pack_panels(view_, block, to, panel_bytes);
    MatrixView panel = view_;
    panel.data += block.col / kernel.cols * kernel.stored_panel_bytes(rows());
    for (int64_t i = 0; i < block.panels; ++i, to += panel_bytes) {
      kernel.pack_panels(panel, {.col = 0, .panels = 1, .k = block.k, .depth = block.depth}, to,
                         panel_bytes);
      panel.data += kernel.stored_panel_bytes(rows());
    }
  }

 private:
  MatrixView view_;
  bool f32_panels_ = false;  // view_ is the first panel then
};

/// Packs columns [first, first + cols) of b.
std::shared_ptr<std::byte> pack_columns(const MicroKernel& kernel, const UnpackedFactor& b,
                                        int64_t first, int64_t cols) {
  const int64_t panels = ceil_div(cols, kernel.cols), bytes = kernel.panel_bytes(b.rows());
  auto memory = allocate(static_cast<size_t>(std::max<int64_t>(panels * bytes, 1)));
  constexpr int64_t kPanels = 8;  // worth waking a thread for
  const int64_t chunks = ceil_div(panels, kPanels), passes = ceil_div(b.rows(), kernel.depth);
  parallel_for(passes * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i / chunks * kernel.depth, panel = i % chunks * kPanels;
      b.pack(kernel,
             {.col = first + panel * kernel.cols,
              .panels = std::min(kPanels, panels - panel),
              .k = k,
              .depth = std::min(kernel.depth, b.rows() - k)},
             memory.get() + panel * bytes + kernel.panel_bytes(k), bytes);
    }
  });
  return memory;
}

/// c (+)= a b. b is packed before, or each task packs its part into its cache.
class Product {
 public:
  /// `packed`: run() will be called with packed panels.
  Product(const MicroKernel& kernel, const Factor& a, const MatmulOptions& options, bool packed,
          Tensor& c)
      : kernel_(kernel),
        a_(a),
        c_(c),
        bias_(options.bias.defined() ? options.bias.data<float>() : nullptr),
        accumulate_(options.accumulate),
        n_(c.cols()),
        plan_(plan(kernel, a_, n_, packed, thread_count())) {
    const int64_t edge = n_ / kernel.cols * kernel.cols;
    if (bias_) std::copy(bias_ + edge, bias_ + n_, edge_bias_.begin());
  }

  /// With all of b packed.
  void run(const std::byte* panels) {
    panels_ = panels;
    run_tasks();
  }

  void run(const UnpackedFactor& b) {
    if (b.f32_panels() && a_.rows <= kernel_.rows) {
      f32_panels_ = true;
      return run(b.f32_panels());
    }
    if (plan_.pack_in_tasks) {
      b_ = &b;
      return run_tasks();
    }
    const int64_t bytes = std::max<int64_t>(1, kernel_.panel_bytes(a_.cols));
    const int64_t max_cols = std::max<int64_t>(1, kMaxPanelBytes / bytes) * kernel_.cols;
    for (first_col_ = 0; first_col_ < n_; first_col_ += max_cols) {
      const int64_t cols = std::min(max_cols, n_ - first_col_);
      if (cols < n_) plan_ = plan(kernel_, a_, cols, true, thread_count());
      const auto panels = pack_columns(kernel_, b, first_col_, cols);
      panels_ = panels.get();
      run_tasks();
    }
  }

 private:
  /// A part of c: at most kernel.rows rows of some panels.
  struct Part {
    int64_t row, rows, col, cols;
    float* sums;  // between passes over K: for each panel [kernel.rows, kernel.cols]
  };

  std::byte* c_at(int64_t row, int64_t col) const {
    return c_.raw() + (row * n_ + col) * size_of(c_.dtype());
  }

  void run_tasks() const {
    parallel_for(plan_.tasks(), plan_.parallel ? 1 : plan_.tasks(),
                 [this](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     Task task = plan_.task(i);
                     task.col += first_col_;
                     run_task(task);
                   }
                   if (kernel_.finish) kernel_.finish();
                 });
  }

  void run_task(const Task& task) const {
    const int64_t panels = ceil_div(task.cols, kernel_.cols);
    const int64_t groups = a_.cols <= plan_.depth ? 1 : ceil_div(task.rows, kernel_.rows);
    auto* sums = reinterpret_cast<float*>(
        buffers.sums.at_least(groups * panels * kernel_.rows * kernel_.cols * size_of(DType::f32)));
    int64_t k = 0;
    do {
      const int64_t depth = std::min(plan_.depth, a_.cols - k);
      run_pass(task, k, depth, sums);
      k += depth;
    } while (k < a_.cols);
  }

  void run_pass(const Task& task, int64_t k, int64_t depth, float* sums) const {
    const Panels panels = panels_of(task, k, depth);
    const int64_t group_sums = panels.count * kernel_.rows * kernel_.cols;
    const bool once = a_.cols <= plan_.depth;
    std::byte* buffer = buffers.rows.at_least(kernel_.packed_rows_bytes(kernel_.max_packed_rows));
    for (int64_t first = 0; first < task.rows; first += kernel_.max_packed_rows) {
      const int64_t rows = std::min(kernel_.max_packed_rows, task.rows - first);
      PackedRows packed = kernel_.pack_rows(a_, {task.row + first, rows, k, depth}, buffer);
      for (int64_t row = first; row < first + rows; row += kernel_.rows) {
        const Part part{.row = task.row + row,
                        .rows = std::min(kernel_.rows, first + rows - row),
                        .col = task.col,
                        .cols = task.cols,
                        .sums = sums + (once ? 0 : row / kernel_.rows * group_sums)};
        run_part(part, pass(part, packed, panels, depth), k);
        packed.data += kernel_.rows * packed.row_bytes;
      }
    }
  }

  /// Panels of b for the columns of a task and k in [k, k + depth).
  struct Panels {
    const std::byte* data;
    int64_t bytes, count;
  };

  /// Bytes of a panel that run_tasks() reads.
  int64_t panel_bytes(int64_t k) const {
    return f32_panels_ ? kernel_.stored_panel_bytes(k) : kernel_.panel_bytes(k);
  }

  void multiply(const Strip& strip) const {
    (f32_panels_ ? kernel_.multiply_f32_panels : kernel_.multiply)(strip);
  }

  Panels panels_of(const Task& task, int64_t k, int64_t depth) const {
    const int64_t count = ceil_div(task.cols, kernel_.cols);
    if (panels_) {
      const int64_t panel = (task.col - first_col_) / kernel_.cols, bytes = panel_bytes(a_.cols);
      return {panels_ + panel * bytes + panel_bytes(k), bytes, count};
    }
    const int64_t bytes = kernel_.panel_bytes(depth);
    std::byte* data = buffers.panels.at_least(std::max<int64_t>(1, count * bytes));
    b_->pack(kernel_, {task.col, count, k, depth}, data, bytes);
    return {data, bytes, count};
  }

  /// A pass in the middle of K: from sums to sums.
  Strip pass(const Part& part, const PackedRows& rows, const Panels& panels, int64_t depth) const {
    const int64_t size = kernel_.rows * kernel_.cols;
    return {.a = rows,
            .rows = part.rows,
            .depth = depth,
            .panel = panels.data,
            .panel_bytes = panels.bytes,
            .panels = panels.count,
            .cols = part.cols,
            .start = part.sums,
            .start_stride = kernel_.cols,
            .start_panel_stride = size,
            .c = reinterpret_cast<std::byte*>(part.sums),
            .c_type = DType::f32,
            .c_stride = kernel_.cols,
            .c_panel_stride = size};
  }

  /// Runs the panels within c, and the one that reaches over its edge.
  void run_part(const Part& part, const Strip& strip, int64_t k) const {
    const int64_t whole = std::min(part.cols, n_ / kernel_.cols * kernel_.cols - part.col);
    const int64_t panels = whole / kernel_.cols;
    if (panels > 0) {
      Part within = part;
      within.cols = whole;
      Strip some = strip;
      some.panels = panels;
      some.cols = whole;
      run_whole(within, some, k);
    }
    if (whole < part.cols) {
      Part edge = part;
      edge.col += whole;
      edge.cols -= whole;
      edge.sums += panels * strip.start_panel_stride;
      Strip one = strip;
      one.panels = 1;
      one.cols = edge.cols;
      one.panel += panels * strip.panel_bytes;
      one.start = edge.sums;
      one.c = reinterpret_cast<std::byte*>(edge.sums);
      run_edge(edge, one, k);
    }
  }

  void run_whole(const Part& part, Strip strip, int64_t k) const {
    if (k == 0 && accumulate_ && !bias_ && c_.dtype() == DType::f32) {
      strip.start = reinterpret_cast<const float*>(c_at(part.row, part.col));
      strip.start_stride = n_;
      strip.start_panel_stride = kernel_.cols;
    } else if (k == 0 && accumulate_ && !bias_ && kernel_.starts_from_bf16) {
      strip.bf16_start = reinterpret_cast<const bfloat16*>(c_at(part.row, part.col));
      strip.start_stride = n_;
      strip.start_panel_stride = kernel_.cols;
    } else if (k == 0 && accumulate_) {
      sum_c_and_bias(part);
    } else if (k == 0) {
      strip.start = bias_ ? bias_ + part.col : nullptr;
      strip.start_stride = 0;
      strip.start_panel_stride = kernel_.cols;
    }
    if (k + strip.depth == a_.cols) {
      strip.c = c_at(part.row, part.col);
      strip.c_type = c_.dtype();
      strip.c_stride = n_;
      strip.c_panel_stride = kernel_.cols;
    }
    multiply(strip);
  }

  void run_edge(const Part& part, Strip strip, int64_t k) const {
    if (k == 0 && accumulate_) {
      sum_c_and_bias(part);
    } else if (k == 0) {
      strip.start = bias_ ? edge_bias_.data() : nullptr;
      strip.start_stride = 0;
    }
    if (k + strip.depth < a_.cols) {
      multiply(strip);
      return;
    }
    alignas(64) std::byte finished[kMaxSums * sizeof(float)];
    strip.c = finished;
    strip.c_type = c_.dtype();
    multiply(strip);
    const int64_t element = size_of(c_.dtype());
    for (int64_t r = 0; r < part.rows; ++r)
      std::memcpy(c_at(part.row + r, part.col), finished + r * kernel_.cols * element,
                  static_cast<size_t>(part.cols * element));
  }

  /// sums = c + bias
  void sum_c_and_bias(const Part& part) const {
    visit_floating(c_.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (int64_t r = 0; r < part.rows; ++r)
        for (int64_t j = 0; j < part.cols; j += kernel_.cols) {
          const int64_t cols = std::min(kernel_.cols, part.cols - j);
          const T* from = reinterpret_cast<const T*>(c_at(part.row + r, part.col + j));
          const float* bias = bias_ ? bias_ + part.col + j : kNoBias.data();
          float* to = part.sums + (j * kernel_.rows) + r * kernel_.cols;
          for (int64_t i = 0; i < cols; ++i) to[i] = static_cast<float>(from[i]) + bias[i];
        }
    });
  }

  const MicroKernel& kernel_;
  const MatrixView a_;
  Tensor& c_;
  const float* bias_;
  const bool accumulate_;
  const int64_t n_;
  Plan plan_;
  const std::byte* panels_ = nullptr;  // b from first_col_ on, packed
  bool f32_panels_ = false;            // they are f32 panels
  int64_t first_col_ = 0;
  const UnpackedFactor* b_ = nullptr;        // or what each task packs panels from
  std::array<float, kMaxCols> edge_bias_{};  // for the panel that reaches over the edge
};

}  // namespace

PackedMatrix pack(const Factor& b) {
  const MicroKernel& kernel = kernel_for(b.matrix.dtype());
  const int64_t panels = ceil_div(b.cols(), kernel.cols),
                bytes = kernel.stored_panel_bytes(b.rows());
  std::shared_ptr<std::byte> memory;
  if (kernel.pack_f32_panel) {
    memory = allocate(static_cast<size_t>(std::max<int64_t>(panels * bytes, 1)));
    parallel_for(panels, 1, [&, view = MatrixView(b)](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        kernel.pack_f32_panel(view, i * kernel.cols, memory.get() + i * bytes);
    });
  } else {
    memory = pack_columns(kernel, UnpackedFactor(b), 0, b.cols());
  }
  return {.panels = Tensor::view({panels, bytes / size_of(kernel.panel_type)}, kernel.panel_type,
                                 std::move(memory)),
          .rows = b.rows(),
          .cols = b.cols(),
          .kernel = &kernel};
}

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  require(a.matrix.dtype() == b.matrix.dtype(), "matmul: a is {}, b is {}, expected one dtype",
          name_of(a.matrix.dtype()), name_of(b.matrix.dtype()));
  if (c.elements() == 0) return;
  Product(kernel_for(a.matrix.dtype()), a, options, false, c).run(UnpackedFactor(b));
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  require(b.kernel, "matmul_packed: b was packed by the reference backend");
  require(b.kernel->panel_type == DType::f32 || a.dtype() == DType::bf16,
          "matmul_packed: a is {}, b was packed as bf16", name_of(a.dtype()));
  if (c.elements() == 0) return;
  if (b.kernel->pack_f32_panel)
    Product(*b.kernel, {a}, options, false, c).run(UnpackedFactor(b));
  else
    Product(*b.kernel, {a}, options, true, c).run(b.panels.raw());
}

}  // namespace heed::kernels::cpu
