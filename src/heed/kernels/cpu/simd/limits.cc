#include "heed/kernels/cpu/simd/limits.h"

#include <algorithm>
#include <cstddef>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/simd/limits.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// kChains chains of multiply-add.
void multiply_add() {
  const F32 d;
  volatile float one = 1.0f, zero = 0.0f;
  const V32 x = hn::Set(d, one), y = hn::Set(d, zero);
  V32 sums[cpu::kChains];
  for (V32& sum : sums) sum = y;
  for (int64_t i = 0; i < cpu::kLinks; ++i)
    for (V32& sum : sums) sum = hn::MulAdd(sum, x, y);
  V32 total = y;
  for (const V32& sum : sums) total = hn::Add(total, sum);
  one = hn::GetLane(total);
}

/// The name of this instruction set, and the lanes of its vectors.
size_t vectors(std::string_view& name) {
  name = HWY_TARGET == HWY_SSE4   ? "SSE4"
         : HWY_TARGET == HWY_AVX2 ? "AVX2"
         : HWY_TARGET <= HWY_AVX3 ? "AVX-512"
         : HWY_ARCH_ARM           ? "NEON"
                                  : "plain";
  return hn::Lanes(F32());
}

/// Reads whole vectors.
void read(const float* from, int64_t count) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V32 a = hn::Zero(d), b = a, c = a, e = a;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, from + i));
    b = hn::Add(b, hn::LoadU(d, from + i + lanes));
    c = hn::Add(c, hn::LoadU(d, from + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, from + i + 3 * lanes));
  }
  volatile float sink = hn::GetLane(hn::Add(hn::Add(a, b), hn::Add(c, e)));
  static_cast<void>(sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(multiply_add);
HWY_EXPORT(vectors);
HWY_EXPORT(read);

static void read_values(const float* from, int64_t count) {
  HWY_DYNAMIC_DISPATCH(read)(from, count);
}

ArithmeticRate cpu::measure_vectors(double seconds) {
  ArithmeticRate rate;
  const size_t lanes = HWY_DYNAMIC_DISPATCH(vectors)(rate.instructions);
  rate.operations_per_second = best_chain_rate(seconds, 2.0 * static_cast<double>(lanes), [] {
    HWY_DYNAMIC_DISPATCH(multiply_add)();
  });
  return rate;
}

}  // namespace heed::kernels

namespace heed {

ArithmeticRate measure_arithmetic(Compute arithmetic, double seconds) {
  if (arithmetic != Compute::f32)
    if (const auto rate = kernels::cpu::measure_intrinsics(arithmetic, seconds)) return *rate;
  return kernels::cpu::measure_vectors(seconds);
}

double measure_reading(int64_t bytes, double seconds) {
  constexpr int64_t kChunk = int64_t{1} << 18, kPass = int64_t{1} << 25;
  require(bytes >= 4 * kChunk, "measure_reading: the area has {} bytes, expected at least {}",
          bytes, 4 * kChunk);
  const int64_t chunks = bytes / kChunk;
  const int64_t count = kChunk / 4;
  Tensor area = Tensor::empty({chunks, count});
  parallel_for(chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) area.row_slice(i, i + 1).fill_zero();
  });
  // Passes are short, so that some are undisturbed on a busy machine. Each reads the part that was
  // read least recently.
  const int64_t some = std::min(chunks, kPass / kChunk);
  const float* values = area.data<float>();
  return kernels::cpu::best_rate(
      seconds, some, static_cast<double>(kChunk), [&](int64_t pass, int64_t i) {
        kernels::read_values(values + (pass * some + i) % chunks * count, count);
      });
}

}  // namespace heed
#endif  // HWY_ONCE
