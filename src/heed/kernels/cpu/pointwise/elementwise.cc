#include "heed/kernels/elementwise.h"

#include <algorithm>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/elementwise.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

double squares_of_chunk(const float* x, int64_t count) {
  const hn::Repartition<double, F32> d;
  const hn::Half<F32> half;
  auto a = hn::Zero(d), b = a;
  for_lanes(0, count, [&](auto at) HEED_LANES {
    const auto value = load(x, at);
    const auto lower = hn::PromoteTo(d, hn::LowerHalf(half, value));
    const auto upper = hn::PromoteTo(d, hn::UpperHalf(half, value));
    a = hn::MulAdd(lower, lower, a);
    b = hn::MulAdd(upper, upper, b);
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

}  // namespace

void add_to(const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto x_zero) {
    visit_floating(y.dtype(), [&](auto y_zero) {
      const auto* from = x.data<decltype(x_zero)>();
      auto* to = y.data<decltype(y_zero)>();
      parallel_for(y.elements(), kLightGrain, [=](int64_t begin, int64_t end) {
        for_lanes(begin, end, [&](auto at) HEED_LANES {
          store(hn::Add(load(to, at), load(from, at)), to, at);
        });
      });
    });
  });
}

void scale(float factor, Tensor& y) {
  visit_floating(y.dtype(), [&](auto zero) {
    auto* to = y.data<decltype(zero)>();
    parallel_for(y.elements(), kLightGrain, [=](int64_t begin, int64_t end) {
      for_lanes(begin, end,
                [&](auto at) HEED_LANES { store(hn::Mul(load(to, at), set(factor)), to, at); });
    });
  });
}

void convert(const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto x_zero) {
    visit_floating(y.dtype(), [&](auto y_zero) {
      const auto* from = x.data<decltype(x_zero)>();
      auto* to = y.data<decltype(y_zero)>();
      parallel_for(y.elements(), kLightGrain, [=](int64_t begin, int64_t end) {
        for_lanes(begin, end, [&](auto at) HEED_LANES { store(load(from, at), to, at); });
      });
    });
  });
}

double sum_of_all_squares(std::span<const Tensor> tensors) {
  struct Chunk {
    const float* from;
    int64_t count;
    double sum;
  };
  thread_local std::vector<Chunk> own_chunks;
  std::vector<Chunk>& chunks = own_chunks;  // the body runs on other threads, too
  chunks.clear();
  for (const Tensor& x : tensors)
    for (int64_t begin = 0; begin < x.elements(); begin += kLightGrain)
      chunks.push_back({x.data<float>() + begin, std::min(kLightGrain, x.elements() - begin), 0.0});
  parallel_for(static_cast<int64_t>(chunks.size()), 1, [&](int64_t first, int64_t last) {
    for (auto chunk = chunks.begin() + first; chunk != chunks.begin() + last; ++chunk)
      chunk->sum = squares_of_chunk(chunk->from, chunk->count);
  });
  double sum = 0.0;
  for (const Chunk& chunk : chunks) sum += chunk.sum;
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(add_to);
void cpu::add_to(const Tensor& x, Tensor& y) { HWY_DYNAMIC_DISPATCH(add_to)(x, y); }
HWY_EXPORT(scale);
void cpu::scale(float factor, Tensor& y) { HWY_DYNAMIC_DISPATCH(scale)(factor, y); }
HWY_EXPORT(convert);
void cpu::convert(const Tensor& x, Tensor& y) { HWY_DYNAMIC_DISPATCH(convert)(x, y); }
HWY_EXPORT(sum_of_all_squares);
double cpu::sum_of_all_squares(std::span<const Tensor> tensors) {
  return HWY_DYNAMIC_DISPATCH(sum_of_all_squares)(tensors);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
