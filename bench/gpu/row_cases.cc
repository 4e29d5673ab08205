#include <numeric>

#include "bench/gpu/kernels_bench.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/embedding.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/rotary.h"
#include "heed/kernels/rows.h"
#include "heed/kernels/softmax.h"

// Kernels that are bound by memory: their floor is that of the bytes.
namespace heed::gpu_bench {
namespace {

using namespace kernels;

constexpr float kEpsilon = 1e-5f;

/// Rows of some width, of bf16 unless the kernel is of f32 alone.
struct Rows {
  int64_t rows, cols;
};

std::string name_of(const std::string& kernel, const Rows& size) {
  return fmt::format("{} {}x{}", kernel, size.rows, size.cols);
}

/// What a run reads, in several copies where caches would hold one.
using Inputs = std::shared_ptr<std::vector<Tensor>>;

Inputs inputs(const Rows& size, DType dtype) {
  auto all = std::make_shared<std::vector<Tensor>>();
  all->push_back(random_tensor({size.rows, size.cols}, dtype));
  for (size_t i = 1; i < copies(all->front().bytes()); ++i) all->push_back(all->front().clone());
  return all;
}

const Tensor& at(const Inputs& all, size_t i) { return (*all)[i % all->size()]; }
Tensor& target(const Inputs& all, size_t i) { return (*all)[i % all->size()]; }

/// `streams` tensors of the size are read or written; make(size) prepares it.
Case row_case(const std::string& kernel, const Rows& size, double streams, DType dtype,
              const std::function<Prepared(const Rows&)>& make) {
  const Rows small{count(size.rows), width(size.cols)};
  return {
      name_of(kernel, size),
      streams * static_cast<double>(size_of(dtype)) * static_cast<double>(small.rows * small.cols),
      0, Unit::f32, [=] { return make(small); }};
}

Prepared rms_norm(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  const Tensor weight = random_tensor({size.cols}, DType::f32);
  Tensor stats = Tensor::empty({size.rows, 1});
  return {[=](size_t i) mutable {
    rms_norm_forward({at(x, i), weight, kEpsilon}, target(y, i), stats);
  }};
}

Prepared layer_norm(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  const Tensor weight = random_tensor({size.cols}, DType::f32);
  Tensor stats = Tensor::empty({size.rows, 2});
  return {[=](size_t i) mutable {
    layer_norm_forward({at(x, i), weight, weight, kEpsilon}, target(y, i), stats);
  }};
}

Prepared rms_norm_back(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), dy = inputs(size, DType::bf16);
  const Tensor weight = random_tensor({size.cols}, DType::f32);
  Tensor stats = Tensor::empty({size.rows, 1}), d_weight = Tensor::zeros({size.cols});
  Tensor dx = Tensor::empty({size.rows, size.cols}, DType::bf16);
  rms_norm_forward({at(x, 0), weight, kEpsilon}, dx, stats);
  return {[=](size_t i) mutable {
    rms_norm_backward({at(x, i), weight, kEpsilon}, stats, at(dy, i), {dx, d_weight});
  }};
}

Prepared rotary(const Rows& size) {
  constexpr int64_t kHead = 128;
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  const Rotation rotation{random_tensor({size.rows, kHead / 2}, DType::f32),
                          random_tensor({size.rows, kHead / 2}, DType::f32)};
  const RotateOptions options{.n_heads = size.cols / kHead};
  return {[=](size_t i) { rotate(at(x, i), rotation, options, target(y, i)); }};
}

Prepared gated(const Rows& size) {
  const Inputs gate = inputs(size, DType::bf16), up = inputs(size, DType::bf16),
               y = inputs(size, DType::bf16);
  return {[=](size_t i) { gated_forward(Activation::silu, at(gate, i), at(up, i), target(y, i)); }};
}

Prepared gelu(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  return {[=](size_t i) { activation_forward(Activation::gelu, at(x, i), target(y, i)); }};
}

Prepared softmax(const Rows& size) {
  const Inputs x = inputs(size, DType::f32), y = inputs(size, DType::f32);
  return {[=](size_t i) { softmax_forward(at(x, i), target(y, i)); }};
}

Prepared residual(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  return {[=](size_t i) { add_to(at(x, i), target(y, i)); }};
}

Prepared to_bf16(const Rows& size) {
  const Inputs x = inputs(size, DType::f32), y = inputs(size, DType::bf16);
  return {[=](size_t i) { convert(at(x, i), target(y, i)); }};
}

std::vector<int32_t> some_rows(int64_t count, int64_t of) {
  std::vector<int32_t> rows(static_cast<size_t>(count));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<int32_t>(static_cast<int64_t>(i) * 7919 % of);
  return rows;
}

Prepared embedding(const Rows& size) {
  const int64_t vocabulary = tiny() ? 100 : 128256;
  const Tensor table = random_tensor({vocabulary, size.cols}, DType::bf16), none;
  const std::vector<int32_t> tokens = some_rows(size.rows, vocabulary);
  const Inputs y = inputs(size, DType::bf16);
  return {[=](size_t i) { embedding_forward({tokens, {}, table, none}, target(y, i)); }};
}

Prepared gather(const Rows& size) {
  const Inputs x = inputs(size, DType::bf16), y = inputs(size, DType::bf16);
  const std::vector<int32_t> rows = some_rows(size.rows, size.rows);
  return {[=](size_t i) { gather_rows(at(x, i), rows, target(y, i)); }};
}

Prepared loss(const Rows& size) {
  const Inputs logits = inputs(size, DType::f32), gradients = inputs(size, DType::bf16);
  const std::vector<int32_t> targets = some_rows(size.rows, size.cols);
  Tensor losses = Tensor::empty({size.rows, 2});
  return {[=](size_t i) mutable {
    cross_entropy(at(logits, i), targets, {.label_smoothing = 0.1f}, losses, target(gradients, i));
  }};
}

Prepared adam(const Rows& size) {
  const auto make = [&] { return random_tensor({size.rows, size.cols}, DType::f32); };
  Tensor value = make(), moment1 = make(), moment2 = Tensor::zeros({size.rows, size.cols});
  const Tensor gradient = make();
  return {[=](size_t) mutable {
    Tensor consumed = gradient;
    adam_step({value, consumed, moment1, moment2}, {.learning_rate = 1e-4f});
  }};
}

Prepared squares(const Rows& size) {
  const Inputs x = inputs(size, DType::f32);
  return {[=](size_t i) { sum_of_squares(at(x, i)); }};
}

}  // namespace

std::vector<Case> row_cases() {
  std::vector<Case> cases;
  for (const int64_t rows : {1, 64, 4096}) {
    cases.push_back(row_case("rms_norm", {rows, 4096}, 2, DType::bf16, rms_norm));
    cases.push_back(row_case("rotary", {rows, 4096}, 2, DType::bf16, rotary));
    cases.push_back(row_case("gated silu", {rows, 14336}, 3, DType::bf16, gated));
    cases.push_back(row_case("add_to", {rows, 4096}, 3, DType::bf16, residual));
    cases.push_back(row_case("embedding", {rows, 4096}, 2, DType::bf16, embedding));
  }
  cases.push_back(row_case("softmax", {4096, 4096}, 2, DType::f32, softmax));
  cases.push_back(row_case("softmax", {64, 128256}, 2, DType::f32, softmax));
  cases.push_back(row_case("layer_norm", {8192, 512}, 2, DType::bf16, layer_norm));
  cases.push_back(row_case("gelu", {8192, 1536}, 2, DType::bf16, gelu));
  cases.push_back(row_case("convert", {4096, 4096}, 1.5, DType::f32, to_bf16));
  cases.push_back(row_case("gather_rows", {8192, 1024}, 2, DType::bf16, gather));
  cases.push_back(row_case("rms_norm backward", {8192, 4096}, 3, DType::bf16, rms_norm_back));
  cases.push_back(row_case("cross_entropy", {4096, 32000}, 1.5, DType::f32, loss));
  cases.push_back(row_case("adam", {16384, 4096}, 7, DType::f32, adam));
  cases.push_back(row_case("sum_of_squares", {16384, 4096}, 1, DType::f32, squares));
  return cases;
}

}  // namespace heed::gpu_bench
