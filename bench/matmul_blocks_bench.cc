// Times products with packed blocks and activations of 8 bits. A single row is bound by reading the
// weight: bytes per second, and `share` and `best` are shares of what all threads read from memory
// (machine.h). Many rows are bound by arithmetic: items are operations, as a share of the peak of
// int8.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/machine.h"
#include "bench/random_matrix.h"
#include "heed/kernels/matmul_blocks.h"

namespace heed::kernels {
namespace {

// Total bytes of the weights that are multiplied in turn, so that they come from memory and not
// from caches.
constexpr int64_t kRotatingBytes = int64_t{1} << 30;

/// A weight of some bytes: their values do not matter to the time.
Tensor some_weight(int64_t rows, int64_t cols, DType dtype) {
  Tensor weight = Tensor::empty({rows, cols}, dtype);
  for (int64_t i = 0; i < weight.bytes(); ++i)
    weight.raw()[i] = static_cast<std::byte>(i * 37 % 61);
  return weight;
}

/// Enough copies of `one`. They are kept until others are requested, since a benchmark is started
/// several times.
const std::vector<PackedBlocks>& rotating_weights(const Tensor& one) {
  static std::vector<PackedBlocks> weights;
  if (!weights.empty() && weights[0].dtype == one.dtype() && weights[0].rows == one.rows() &&
      weights[0].cols == one.cols())
    return weights;
  weights.clear();
  for (int64_t bytes = 0; bytes < kRotatingBytes; bytes += one.bytes())
    weights.push_back(pack_blocks(one));
  return weights;
}

/// Products of a single row with weights that come from memory.
void decoding(benchmark::State& state, DType dtype) {
  const int64_t in = state.range(0), out = state.range(1);
  const Tensor one = some_weight(out, in, dtype);
  const std::vector<PackedBlocks>& weights = rotating_weights(one);
  const Tensor x = random_matrix(1, in);
  Tensor y = Tensor::empty({1, out});
  size_t next = 0;
  measure_bytes(state, one.bytes(), kRotatingBytes, [&] {
    matmul_blocks(x, weights[next], {}, y);
    next = (next + 1) % weights.size();
  });
}

/// Many rows.
void prefill(benchmark::State& state, DType dtype) {
  const int64_t rows = state.range(0), in = state.range(1), out = state.range(2);
  const PackedBlocks weight = pack_blocks(some_weight(out, in, dtype));
  const Tensor x = random_matrix(rows, in);
  Tensor y = Tensor::empty({rows, out});
  measure_operations(state, 2 * rows * in * out, Compute::int8,
                     [&] { matmul_blocks(x, weight, {}, y); });
}

void decoding_shapes(benchmark::internal::Benchmark* bench) {
  for (const auto& [in, out] :
       {std::pair{1536, 576}, {2048, 256}, {2048, 2048}, {2048, 5632}, {5632, 2048}, {2048, 32000}})
    bench->Args({in, out});
  bench->ArgNames({"in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void prefill_shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t rows : {2, 4, 8, 16, 64, 512})
    for (const auto& [in, out] :
         {std::pair{512, 512}, {512, 1536}, {2048, 2048}, {2048, 5632}, {5632, 2048}})
      if (rows == 512 || in + out == 4096) bench->Args({rows, in, out});
  bench->ArgNames({"rows", "in", "out"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(decoding, q4_0, DType::q4_0)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q4_1, DType::q4_1)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q5_0, DType::q5_0)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q5_1, DType::q5_1)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q8_0, DType::q8_0)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q2_K, DType::q2_K)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q3_K, DType::q3_K)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q4_K, DType::q4_K)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q5_K, DType::q5_K)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, q6_K, DType::q6_K)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, iq4_nl, DType::iq4_nl)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, iq4_xs, DType::iq4_xs)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(decoding, mxfp4, DType::mxfp4)->Apply(decoding_shapes);
BENCHMARK_CAPTURE(prefill, q4_0, DType::q4_0)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q4_1, DType::q4_1)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q5_0, DType::q5_0)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q5_1, DType::q5_1)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q8_0, DType::q8_0)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q2_K, DType::q2_K)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q3_K, DType::q3_K)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q4_K, DType::q4_K)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q5_K, DType::q5_K)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, q6_K, DType::q6_K)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, iq4_nl, DType::iq4_nl)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, iq4_xs, DType::iq4_xs)->Apply(prefill_shapes);
BENCHMARK_CAPTURE(prefill, mxfp4, DType::mxfp4)->Apply(prefill_shapes);

}  // namespace
}  // namespace heed::kernels
