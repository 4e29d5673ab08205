#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/machine.h"
#include "bench/random_matrix.h"
#include "heed/base/parallel.h"

namespace heed::kernels {

/// The sizes at which memory-bound kernels are timed: tensors [rows, cols], several of which fit in
/// level-2 caches, or which fit in none.
struct BenchSize {
  std::string_view name;
  int64_t rows, cols;
};
inline constexpr BenchSize kBenchSizes[] = {{"caches", 256, 512}, {"memory", 32768, 1024}};
inline constexpr DType kBenchTypes[] = {DType::f32, DType::bf16};

/// Numbers between -0.5 and 0.5. Rows repeat, so that it is made quickly.
inline Tensor some_matrix(int64_t rows, int64_t cols, DType dtype = DType::f32) {
  constexpr int64_t kOwn = 64;
  const Tensor own = random_matrix(std::min(rows, kOwn), cols, dtype);
  Tensor matrix = Tensor::empty({rows, cols}, dtype);
  parallel_for(rows, kOwn, [&](int64_t begin, int64_t end) {
    std::memcpy(matrix.raw() + begin * matrix.row_bytes(), own.raw(),
                static_cast<size_t>((end - begin) * matrix.row_bytes()));
  });
  return matrix;
}

/// A kernel's run over tensors that it holds, and the bytes that it reads and writes.
struct BenchWork {
  int64_t bytes;
  std::function<void()> run;
};

/// Adds a benchmark; its work is made when it is run.
template <typename Make>
void add_bench(std::string_view kernel, std::string_view detail, const BenchSize& size,
               const Make& make) {
  benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", kernel, detail, size.name).c_str(),
                               [make](benchmark::State& state) {
                                 const BenchWork work = make();
                                 work.run();  // memory is touched for the first time
                                 measure_bytes(state, work.bytes, work.bytes, work.run);
                               })
      ->UseRealTime()
      ->MinTime(0.2)
      ->Unit(benchmark::kMicrosecond);
}

/// make(size, dtype) at both sizes in both types of activations.
template <typename Make>
void add_benches(std::string_view kernel, const Make& make) {
  for (const BenchSize& size : kBenchSizes)
    for (const DType dtype : kBenchTypes)
      add_bench(kernel, name_of(dtype), size, [=] { return make(size, dtype); });
}

/// The same in f32 alone.
template <typename Make>
void add_f32_benches(std::string_view kernel, const Make& make) {
  for (const BenchSize& size : kBenchSizes)
    add_bench(kernel, name_of(DType::f32), size, [=] { return make(size, DType::f32); });
}

}  // namespace heed::kernels
