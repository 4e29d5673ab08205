// main() of the programs that time kernels. HEED_THREADS in the environment sets the number of
// threads; the peaks of the machine are printed above the table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <map>

#include "bench/machine.h"
#include "heed/base/parallel.h"

namespace heed::kernels {
namespace {

constexpr double kSeconds = 0.5;

}  // namespace

double peak_operations(Compute arithmetic) {
  static std::map<Compute, double> known;
  const auto [at, unknown] = known.try_emplace(arithmetic);
  if (unknown) at->second = measure_arithmetic(arithmetic, kSeconds).operations_per_second;
  return at->second;
}

double peak_reading(int64_t bytes) {
  static std::map<int64_t, double> known;
  const auto area =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(bytes, 1 << 20))));
  const auto [at, unknown] = known.try_emplace(area);
  if (unknown) at->second = measure_reading(area, kSeconds);
  return at->second;
}

}  // namespace heed::kernels

int main(int argc, char** argv) {
  using namespace heed::kernels;
  using heed::Compute;
  const char* threads = std::getenv("HEED_THREADS");
  heed::Executor executor(threads != nullptr ? std::atoi(threads) : 0);
  const heed::ExecutorScope scope(executor);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const Compute arithmetic : {Compute::f32, Compute::bf16, Compute::int8})
    benchmark::AddCustomContext(fmt::format("at most, {}", name_of(arithmetic)),
                                fmt::format("{:.0f} GFLOP/s", peak_operations(arithmetic) / 1e9));
  benchmark::AddCustomContext("at most, reading memory",
                              fmt::format("{:.1f} GB/s", peak_reading(int64_t{1} << 30) / 1e9));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
