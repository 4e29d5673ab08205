// Times products with weights as they are stored. A single row is bound by reading the weight:
// bytes per second; many rows are bound by arithmetic: items are operations, so that
// items_per_second is FLOP/s. `share` and `best` are shares of what all threads read from an area
// of the weight's size, or of the peak of f32 (machine.h).
#include <benchmark/benchmark.h>

#include "bench/machine.h"
#include "bench/random_matrix.h"
#include "heed/kernels/matmul_stored.h"
#include "heed/kernels/quantize.h"

namespace heed::kernels {
namespace {

/// x [tokens, in] W^T with W [out, in].
void product(benchmark::State& state, DType dtype) {
  const int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  const Tensor x = random_matrix(tokens, in);
  Tensor weight = Tensor::zeros({out, in}, dtype);
  if (is_written(dtype)) quantize(random_matrix(out, in), weight);
  Tensor y = Tensor::empty({tokens, out});
  const auto multiply = [&] { matmul_stored(x, weight, {}, y); };
  if (tokens == 1)
    measure_bytes(state, weight.bytes(), weight.bytes(), multiply);
  else
    measure_operations(state, 2 * tokens * in * out, Compute::f32, multiply);
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t tokens : {1, 4, 512})
    for (const auto& [in, out] : {std::pair{512, 1536}, {4096, 4096}, {4096, 14336}})
      if (tokens < 512 || out < 14336) bench->Args({tokens, in, out});
  bench->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(product, f32, DType::f32)->Apply(shapes);
BENCHMARK_CAPTURE(product, bf16, DType::bf16)->Apply(shapes);
BENCHMARK_CAPTURE(product, f16, DType::f16)->Apply(shapes);
BENCHMARK_CAPTURE(product, q8_0, DType::q8_0)->Apply(shapes);
BENCHMARK_CAPTURE(product, q4_0, DType::q4_0)->Apply(shapes);
BENCHMARK_CAPTURE(product, q4_1, DType::q4_1)->Apply(shapes);
BENCHMARK_CAPTURE(product, q6_K, DType::q6_K)->Apply(shapes);

}  // namespace
}  // namespace heed::kernels
