// Times the matrix product over the shapes of training and decoding. Many rows are bound by
// arithmetic: items are operations, so that items_per_second is FLOP/s, and `share` and `best` are
// shares of the measured peak of that type (machine.h); with AMX, products of f32 exceed the peak
// of f32 vectors. Few rows are bound by reading the weight: bytes of the weight per second, as a
// share of what all threads read from memory.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/machine.h"
#include "bench/random_matrix.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_int8.h"

namespace heed::kernels {
namespace {

constexpr Compute arithmetic_of(DType dtype) {
  return dtype == DType::bf16 ? Compute::bf16 : Compute::f32;
}

/// The products of a linear layer: x [tokens, in] W^T, dy W and dy^T x, with W [out, in].
struct Layer {
  explicit Layer(const benchmark::State& state, DType dtype)
      : tokens(state.range(0)),
        in(state.range(1)),
        out(state.range(2)),
        x(random_matrix(tokens, in, dtype)),
        weight(random_matrix(out, in, dtype)),
        y(random_matrix(tokens, out, dtype)) {}

  template <typename Body>
  void measure(benchmark::State& state, const Body& body) const {
    measure(state, arithmetic_of(x.dtype()), body);
  }
  template <typename Body>
  void measure(benchmark::State& state, Compute arithmetic, const Body& body) const {
    measure_operations(state, 2 * tokens * in * out, arithmetic, body);
  }

  int64_t tokens, in, out;
  Tensor x, weight, y;
};

void forward(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  layer.measure(state, [&] { matmul({layer.x}, {layer.weight, true}, {}, layer.y); });
}

void forward_packed(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  const PackedMatrix packed = pack({layer.weight, true});
  layer.measure(state, [&] { matmul_packed(layer.x, packed, {}, layer.y); });
}

/// One scale per row of x and of the weight; the time includes quantising x.
void forward_int8(benchmark::State& state) {
  Layer layer(state, DType::f32);
  const PackedInt8 packed = pack_int8(layer.weight);
  layer.measure(state, Compute::int8, [&] { matmul_int8(layer.x, packed, {}, layer.y); });
}

void input_gradient(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  layer.measure(state, [&] { matmul({layer.y}, {layer.weight}, {}, layer.x); });
}

void weight_gradient(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  Tensor gradient = Tensor::zeros({layer.out, layer.in});
  layer.measure(state, [&] { matmul({layer.y, true}, {layer.x}, {.accumulate = true}, gradient); });
}

// Total bytes of the weights that are multiplied in turn, so that they come from memory and not
// from caches.
constexpr int64_t kRotatingBytes = int64_t{1} << 30;

/// Enough copies of `one`. They are kept until others are requested, since a benchmark is started
/// several times.
const std::vector<PackedMatrix>& rotating_weights(const Tensor& one) {
  static std::vector<PackedMatrix> weights;
  static DType dtype;
  if (!weights.empty() && dtype == one.dtype() && weights[0].cols == one.rows() &&
      weights[0].rows == one.cols())
    return weights;
  weights.clear();
  dtype = one.dtype();
  for (int64_t bytes = 0; bytes < kRotatingBytes; bytes += one.bytes())
    weights.push_back(pack({one, true}));
  return weights;
}

/// Products of few rows with weights that come from memory.
void decoding(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  const std::vector<PackedMatrix>& weights = rotating_weights(layer.weight);
  size_t next = 0;
  measure_bytes(state, layer.weight.bytes(), kRotatingBytes, [&] {
    matmul_packed(layer.x, weights[next], {}, layer.y);
    next = (next + 1) % weights.size();
  });
}

void training_shapes(benchmark::internal::Benchmark* bench) {
  for (const auto& [in, out] : {std::pair{256, 256},
                                {256, 1024},
                                {1024, 256},
                                {256, 4000},
                                {512, 512},
                                {512, 2048},
                                {2048, 512},
                                {1024, 1024}})
    bench->Args({3000, in, out});
  // SmolLM2-135M.
  for (const auto& [in, out] : {std::pair{576, 576}, {576, 1536}, {1536, 576}, {576, 49152}})
    bench->Args({1024, in, out});
  bench->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void decoding_shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t tokens : {1, 2, 4, 8, 16, 32})
    for (const auto& [in, out] : {std::pair{512, 512}, {512, 2048}, {2048, 2048}, {2048, 5632}})
      if (tokens == 1 || in + out < 5000) bench->Args({tokens, in, out});
  bench->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

/// The layers of MiniLM and of the paper's base model, and a larger one.
void int8_shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t tokens : {1, 16, 64, 1024, 3000})
    for (const auto& [in, out] : {std::pair{384, 384},
                                  {384, 1536},
                                  {1536, 384},
                                  {512, 512},
                                  {512, 2048},
                                  {2048, 512},
                                  {2048, 2048}})
      bench->Args({tokens, in, out});
  bench->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(forward, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward_packed, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward_packed, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK(forward_int8)->Apply(int8_shapes);
BENCHMARK_CAPTURE(input_gradient, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(input_gradient, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(weight_gradient, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(weight_gradient, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(decoding, f32, DType::f32)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, bf16, DType::bf16)->Apply(decoding_shapes);

}  // namespace
}  // namespace heed::kernels
