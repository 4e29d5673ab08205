// Times the matrix product over the shapes of training and decoding; items are operations, so that
// items_per_second is FLOP/s. `peak` is what the processor's f32 multiply-adds could do at most.
// HEED_THREADS=1 in the environment: on one thread.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdlib>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/matmul.h"

namespace heed::kernels {
namespace {

Tensor random_matrix(int64_t rows, int64_t cols, DType dtype) {
  Tensor matrix = Tensor::empty({rows, cols}, dtype);
  const CounterRandom random(1);
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < matrix.elements(); ++i)
      matrix.data<T>()[i] = T(static_cast<float>(random.uniform(static_cast<uint64_t>(i)) - 0.5));
  });
  return matrix;
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

#if defined(__x86_64__)

// Ten independent chains of multiply-adds, all in registers.
constexpr int64_t kPeakSteps = 100000, kPeakVectors = 10;

__attribute__((target("avx512f"))) void multiply_add_512() {
  const __m512 factor = _mm512_set1_ps(0.999f);
  __m512 x[10];
  for (__m512& each : x) each = _mm512_set1_ps(1.1f);
  for (int64_t i = 0; i < kPeakSteps; ++i)
    __asm__ volatile(
        "vfmadd213ps %10, %10, %0\n"
        "vfmadd213ps %10, %10, %1\n"
        "vfmadd213ps %10, %10, %2\n"
        "vfmadd213ps %10, %10, %3\n"
        "vfmadd213ps %10, %10, %4\n"
        "vfmadd213ps %10, %10, %5\n"
        "vfmadd213ps %10, %10, %6\n"
        "vfmadd213ps %10, %10, %7\n"
        "vfmadd213ps %10, %10, %8\n"
        "vfmadd213ps %10, %10, %9"
        : "+v"(x[0]), "+v"(x[1]), "+v"(x[2]), "+v"(x[3]), "+v"(x[4]), "+v"(x[5]), "+v"(x[6]),
          "+v"(x[7]), "+v"(x[8]), "+v"(x[9])
        : "v"(factor));
}

__attribute__((target("avx2,fma"))) void multiply_add_256() {
  const __m256 factor = _mm256_set1_ps(0.999f);
  __m256 x[10];
  for (__m256& each : x) each = _mm256_set1_ps(1.1f);
  for (int64_t i = 0; i < kPeakSteps; ++i)
    __asm__ volatile(
        "vfmadd213ps %10, %10, %0\n"
        "vfmadd213ps %10, %10, %1\n"
        "vfmadd213ps %10, %10, %2\n"
        "vfmadd213ps %10, %10, %3\n"
        "vfmadd213ps %10, %10, %4\n"
        "vfmadd213ps %10, %10, %5\n"
        "vfmadd213ps %10, %10, %6\n"
        "vfmadd213ps %10, %10, %7\n"
        "vfmadd213ps %10, %10, %8\n"
        "vfmadd213ps %10, %10, %9"
        : "+x"(x[0]), "+x"(x[1]), "+x"(x[2]), "+x"(x[3]), "+x"(x[4]), "+x"(x[5]), "+x"(x[6]),
          "+x"(x[7]), "+x"(x[8]), "+x"(x[9])
        : "x"(factor));
}

void peak(benchmark::State& state) {
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma")) return state.SkipWithError("no multiply-add");
  const int64_t threads = thread_count();
  for ([[maybe_unused]] auto _ : state)
    parallel_for(threads, 1,
                 [&](int64_t, int64_t) { wide ? multiply_add_512() : multiply_add_256(); });
  state.SetItemsProcessed(state.iterations() * threads * kPeakSteps * kPeakVectors * 2 *
                          (wide ? 16 : 8));
}
BENCHMARK(peak)->UseRealTime()->Unit(benchmark::kMicrosecond);

#endif

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

int main(int argc, char** argv) {
  if (const char* threads = std::getenv("HEED_THREADS")) heed::set_thread_count(std::atoi(threads));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
