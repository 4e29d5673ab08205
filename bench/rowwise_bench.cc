// Times the row-wise kernels: norms, softmax, cross entropy, rotary positions, embeddings, sums of
// columns, and copies of rows and columns. They are bound by reading and writing: `share` and
// `best` are the bytes that a kernel must read and write, as a share of what all threads can read
// from an area of that size (machine.h). A written byte costs two bytes of memory traffic, since
// its cache line is read first, so a kernel that writes as much as it reads reaches two thirds at
// most.
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "bench/sizes.h"
#include "heed/kernels/argmax.h"
#include "heed/kernels/column_sums.h"
#include "heed/kernels/columns.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/embedding.h"
#include "heed/kernels/experts.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/rotary.h"
#include "heed/kernels/rows.h"
#include "heed/kernels/softmax.h"

namespace heed::kernels {
namespace {

Tensor empty_like(const Tensor& x) { return Tensor::empty(x.shape(), x.dtype()); }

/// Row indices of a table, in random order.
std::vector<int32_t> row_numbers(int64_t count, int64_t rows) {
  const CounterRandom random(2);
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(rows)));
  return numbers;
}

void add_norms() {
  add_benches("layer_norm_forward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const Tensor weight = Tensor::full({size.cols}, 1.0f), bias = Tensor::zeros({size.cols});
    return BenchWork{2 * x.bytes(),
                     [=, y = empty_like(x), stats = Tensor::empty({size.rows, 2})]() mutable {
                       layer_norm_forward({x, weight, bias, 1e-5f}, y, stats);
                     }};
  });
  add_benches("layer_norm_backward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const Tensor weight = Tensor::full({size.cols}, 1.0f), bias = Tensor::zeros({size.cols});
    Tensor y = empty_like(x), stats = Tensor::empty({size.rows, 2});
    layer_norm_forward({x, weight, bias, 1e-5f}, y, stats);
    return BenchWork{
        3 * x.bytes(), [=, dx = empty_like(x), d_weight = Tensor::zeros({size.cols}),
                        d_bias = Tensor::zeros({size.cols})]() mutable {
          layer_norm_backward({x, weight, bias, 1e-5f}, stats, y, {dx, d_weight, d_bias});
        }};
  });
  add_benches("rms_norm_forward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const Tensor weight = Tensor::full({size.cols}, 1.0f);
    return BenchWork{2 * x.bytes(),
                     [=, y = empty_like(x), stats = Tensor::empty({size.rows, 1})]() mutable {
                       rms_norm_forward({x, weight, 1e-5f}, y, stats);
                     }};
  });
  add_benches("rms_norm_backward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const Tensor weight = Tensor::full({size.cols}, 1.0f);
    Tensor y = empty_like(x), stats = Tensor::empty({size.rows, 1});
    rms_norm_forward({x, weight, 1e-5f}, y, stats);
    return BenchWork{3 * x.bytes(),
                     [=, dx = empty_like(x), d_weight = Tensor::zeros({size.cols})]() mutable {
                       rms_norm_backward({x, weight, 1e-5f}, stats, y, {dx, d_weight});
                     }};
  });
}

void add_softmax() {
  add_benches("softmax_forward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * x.bytes(), [=, y = empty_like(x)]() mutable { softmax_forward(x, y); }};
  });
  add_benches("softmax_backward", [](const BenchSize& size, DType dtype) {
    const Tensor dy = some_matrix(size.rows, size.cols, dtype);
    Tensor y = empty_like(dy);
    softmax_forward(dy, y);
    return BenchWork{3 * dy.bytes(),
                     [=, dx = empty_like(dy)]() mutable { softmax_backward(y, dy, dx); }};
  });
  add_f32_benches("log_softmax", [](const BenchSize& size, DType) {
    const Tensor x = some_matrix(size.rows, size.cols);
    return BenchWork{2 * x.bytes(), [=, y = empty_like(x)]() mutable { log_softmax(x, y); }};
  });
  add_benches("cross_entropy", [](const BenchSize& size, DType dtype) {
    const Tensor logits = some_matrix(size.rows, size.cols);
    Tensor gradient = Tensor::empty(logits.shape(), dtype);
    return BenchWork{logits.bytes() + gradient.bytes(),
                     [=, targets = row_numbers(size.rows, size.cols),
                      losses = Tensor::empty({size.rows, 2})]() mutable {
                       cross_entropy(logits, targets, {.label_smoothing = 0.1f}, losses, gradient);
                     }};
  });
  add_f32_benches("argmax", [](const BenchSize& size, DType) {
    const Tensor x = some_matrix(1, size.rows * size.cols);
    return BenchWork{x.bytes(), [=] { benchmark::DoNotOptimize(argmax(x.values<float>())); }};
  });
}

void add_positions_and_tables() {
  add_benches("rotate", [](const BenchSize& size, DType dtype) {
    constexpr int64_t kHead = 64;
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const Rotation rotation{some_matrix(size.rows, kHead / 2), some_matrix(size.rows, kHead / 2)};
    return BenchWork{2 * x.bytes() + 2 * rotation.cos.bytes(), [=, y = empty_like(x)]() mutable {
                       rotate(x, rotation, {.n_heads = x.cols() / kHead}, y);
                     }};
  });
  add_benches("embedding_forward", [](const BenchSize& size, DType dtype) {
    const Tensor table = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * table.bytes(), [=, tokens = row_numbers(size.rows, size.rows),
                                         y = empty_like(table), positions = Tensor()]() mutable {
                       embedding_forward({tokens, {}, table, positions, 16.0f}, y);
                     }};
  });
  add_benches("embedding_backward", [](const BenchSize& size, DType dtype) {
    const Tensor dy = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{dy.bytes() + 2 * 4 * dy.elements(),
                     [=, tokens = row_numbers(size.rows, size.rows),
                      d_table = Tensor::zeros(dy.shape())]() mutable {
                       embedding_backward(tokens, dy, 16.0f, d_table);
                     }};
  });
  add_benches("column_sums", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{x.bytes(),
                     [=, sums = Tensor::zeros({size.cols})]() mutable { column_sums(x, sums); }};
  });
}

void add_moving() {
  add_benches("gather_rows", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * x.bytes(), [=, rows = row_numbers(size.rows, size.rows),
                                     y = empty_like(x)]() mutable { gather_rows(x, rows, y); }};
  });
  add_benches("add_rows", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{3 * x.bytes(),
                     [=, rows = row_numbers(size.rows, size.rows),
                      y = Tensor::zeros(x.shape(), dtype)]() mutable { add_rows(x, rows, y); }};
  });
  add_benches("copy_columns", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const ColumnsOptions options{
        .n_heads = size.cols / 64, .width = 64, .from = {0, 64}, .to = {0, 64}};
    return BenchWork{2 * x.bytes(),
                     [=, y = empty_like(x)]() mutable { copy_columns(x, options, y); }};
  });
  add_benches("combine_experts_forward", [](const BenchSize& size, DType dtype) {
    // Every row goes to both of two experts.
    std::vector<int32_t> experts, places;
    for (int64_t i = 0; i < 2 * size.rows; ++i) {
      experts.push_back(static_cast<int32_t>(i % 2));
      places.push_back(static_cast<int32_t>(i / 2));
    }
    const Tensor part = some_matrix(size.rows, size.cols, dtype);
    const std::vector<Tensor> parts{part, part.clone()};
    const Tensor weights = Tensor::full({size.rows, 2}, 0.5f);
    return BenchWork{3 * parts[0].bytes(), [=, y = empty_like(parts[0])]() mutable {
                       combine_experts_forward({parts, experts, places, weights}, y);
                     }};
  });
}

[[maybe_unused]] const bool added = [] {
  add_norms();
  add_softmax();
  add_positions_and_tables();
  add_moving();
  return true;
}();

}  // namespace
}  // namespace heed::kernels
