// Times the matrix product over the shapes of training and decoding; items are operations, so that
// items_per_second is FLOP/s.
#include <benchmark/benchmark.h>

#include "bench/random_matrix.h"
#include "heed/kernels/matmul.h"

namespace heed::kernels {
namespace {

/// The products of a linear layer: x [tokens, in] W^T, dy W and dy^T x, with W [out, in].
struct Layer {
  explicit Layer(const benchmark::State& state, DType dtype)
      : tokens(state.range(0)),
        in(state.range(1)),
        out(state.range(2)),
        x(random_matrix(tokens, in, dtype)),
        weight(random_matrix(out, in, dtype)),
        y(random_matrix(tokens, out, dtype)) {}

  void count(benchmark::State& state) const {
    state.SetItemsProcessed(state.iterations() * 2 * tokens * in * out);
  }

  int64_t tokens, in, out;
  Tensor x, weight, y;
};

void forward(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  for ([[maybe_unused]] auto _ : state) matmul({layer.x}, {layer.weight, true}, {}, layer.y);
  layer.count(state);
}

void forward_packed(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  const PackedMatrix packed = pack({layer.weight, true});
  for ([[maybe_unused]] auto _ : state) matmul_packed(layer.x, packed, {}, layer.y);
  layer.count(state);
}

void input_gradient(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  for ([[maybe_unused]] auto _ : state) matmul({layer.y}, {layer.weight}, {}, layer.x);
  layer.count(state);
}

void weight_gradient(benchmark::State& state, DType dtype) {
  Layer layer(state, dtype);
  Tensor gradient = Tensor::zeros({layer.out, layer.in});
  for ([[maybe_unused]] auto _ : state)
    matmul({layer.y, true}, {layer.x}, {.accumulate = true}, gradient);
  layer.count(state);
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
  for (const int64_t tokens : {1, 4, 8, 16, 32})
    for (const auto& [in, out] : {std::pair{256, 256}, {256, 4000}, {512, 2048}})
      bench->Args({tokens, in, out});
  bench->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(forward, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward_packed, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward_packed, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(input_gradient, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(input_gradient, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(weight_gradient, f32, DType::f32)->Apply(training_shapes);
BENCHMARK_CAPTURE(weight_gradient, bf16, DType::bf16)->Apply(training_shapes);
BENCHMARK_CAPTURE(forward_packed, decoding_f32, DType::f32)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(forward_packed, decoding_bf16, DType::bf16)->Apply(decoding_shapes);

}  // namespace
}  // namespace heed::kernels
