// Times the element-wise kernels: activations, gates, dropout, sums, conversions, and the step of
// Adam. `share` and `best` are the bytes that a kernel must read and write, as a share of what all
// threads can read from an area of that size (machine.h). A written byte costs two bytes of memory
// traffic, since its cache line is read first, so a kernel that writes as much as it reads reaches
// two thirds at most. In caches, kernels that compute exponentials or random numbers are bound by
// arithmetic.
#include "bench/sizes.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/dropout.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/soft_cap.h"

namespace heed::kernels {
namespace {

Tensor empty_like(const Tensor& x) { return Tensor::empty(x.shape(), x.dtype()); }

void add_activations(Activation f) {
  const auto named = [f](std::string_view kernel) {
    return fmt::format("{}/{}", kernel, name_of(f));
  };
  add_benches(named("activation_forward"), [f](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * x.bytes(),
                     [=, y = empty_like(x)]() mutable { activation_forward(f, x, y); }};
  });
  add_benches(named("activation_backward"), [f](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype), dy = x.clone();
    return BenchWork{3 * x.bytes(),
                     [=, dx = empty_like(x)]() mutable { activation_backward(f, x, dy, dx); }};
  });
}

void add_gates(Activation f) {
  const auto named = [f](std::string_view kernel) {
    return fmt::format("{}/{}", kernel, name_of(f));
  };
  add_benches(named("gated_forward"), [f](const BenchSize& size, DType dtype) {
    const Tensor gate = some_matrix(size.rows, size.cols, dtype), up = gate.clone();
    return BenchWork{3 * gate.bytes(),
                     [=, y = empty_like(gate)]() mutable { gated_forward(f, gate, up, y); }};
  });
  add_benches(named("gated_backward"), [f](const BenchSize& size, DType dtype) {
    const Tensor gate = some_matrix(size.rows, size.cols, dtype), up = gate.clone();
    const Tensor dy = gate.clone();
    return BenchWork{5 * gate.bytes(),
                     [=, d_gate = empty_like(gate), d_up = empty_like(gate)]() mutable {
                       gated_backward(f, gate, up, dy, {d_gate, d_up});
                     }};
  });
}

constexpr Dropout kDropout{.rate = 0.1f, .key = 5};

void add_dropout() {
  add_benches("dropout_add_forward", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype), residual = x.clone();
    return BenchWork{3 * x.bytes(), [=, y = empty_like(x)]() mutable {
                       dropout_add_forward(x, residual, kDropout, y);
                     }};
  });
  add_benches("dropout_backward", [](const BenchSize& size, DType dtype) {
    const Tensor dy = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * dy.bytes(),
                     [=, dx = empty_like(dy)]() mutable { dropout_backward(dy, kDropout, dx); }};
  });
}

void add_sums() {
  add_benches("add_to", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{3 * x.bytes(), [=, y = x.clone()]() mutable { add_to(x, y); }};
  });
  add_benches("scale", [](const BenchSize& size, DType dtype) {
    Tensor y = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{2 * y.bytes(), [y]() mutable { scale(-1.0f, y); }};
  });
  add_benches("convert", [](const BenchSize& size, DType to) {
    const DType from = to == DType::f32 ? DType::bf16 : DType::f32;
    const Tensor x = some_matrix(size.rows, size.cols, from);
    Tensor y = Tensor::empty(x.shape(), to);
    return BenchWork{x.bytes() + y.bytes(), [=]() mutable { convert(x, y); }};
  });
  add_f32_benches("sum_of_squares", [](const BenchSize& size, DType) {
    const Tensor x = some_matrix(size.rows, size.cols);
    return BenchWork{x.bytes(), [=] { benchmark::DoNotOptimize(sum_of_squares(x)); }};
  });
  add_f32_benches("soft_cap", [](const BenchSize& size, DType) {
    Tensor x = some_matrix(size.rows, size.cols);
    return BenchWork{2 * x.bytes(), [x]() mutable { soft_cap(30.0f, x); }};
  });
}

void add_adam() {
  add_f32_benches("adam_step", [](const BenchSize& size, DType) {
    Tensor value = some_matrix(size.rows, size.cols);
    // Value and moments are read and written; the gradient is read, since the step consumes it.
    return BenchWork{7 * value.bytes(),
                     [value, gradient = value.clone(), moment1 = Tensor::zeros(value.shape()),
                      moment2 = Tensor::zeros(value.shape())]() mutable {
                       Tensor consumed = gradient;
                       adam_step({value, consumed, moment1, moment2}, {.learning_rate = 1e-4f});
                     }};
  });
}

[[maybe_unused]] const bool added = [] {
  for (const Activation f : {Activation::relu, Activation::gelu, Activation::gelu_tanh,
                             Activation::silu, Activation::tanh})
    add_activations(f);
  for (const Activation f : {Activation::silu, Activation::gelu_tanh}) add_gates(f);
  add_dropout();
  add_sums();
  add_adam();
  return true;
}();

}  // namespace
}  // namespace heed::kernels
