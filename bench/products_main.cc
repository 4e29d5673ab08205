// How the programs that time products begin: HEED_THREADS in the environment sets the number of
// threads, and what the machine can do at most stands above the table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "heed/base/parallel.h"
#include "heed/kernels/limits.h"

int main(int argc, char** argv) {
  using namespace heed::kernels;
  constexpr double kSeconds = 0.5;
  if (const char* threads = std::getenv("HEED_THREADS")) heed::set_thread_count(std::atoi(threads));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::bf16, Arithmetic::int8})
    benchmark::AddCustomContext(
        fmt::format("at most, {}", name_of(arithmetic)),
        fmt::format("{:.0f} GFLOP/s",
                    measure_arithmetic(arithmetic, kSeconds).operations_per_second / 1e9));
  benchmark::AddCustomContext(
      "at most, reading memory",
      fmt::format("{:.1f} GB/s", measure_reading(int64_t{1} << 30, kSeconds) / 1e9));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
