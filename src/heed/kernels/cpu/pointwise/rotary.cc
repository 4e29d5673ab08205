#include "heed/kernels/rotary.h"

#include <algorithm>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/rotary.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// The angles of a row; `direction` -1 rotates back.
struct RowAngles {
  const float *cos, *sin;  // [half]
  int64_t half;
  float direction;
};

/// The angles of interleaved columns, for y = cos x + sin (the other of x's pair).
struct ColumnAngles {
  void set(const RowAngles& row) {
    cos.resize(static_cast<size_t>(2 * row.half));
    sin.resize(cos.size());
    for (int64_t c = 0; c < row.half; ++c) {
      const auto first = static_cast<size_t>(2 * c), second = first + 1;
      cos[first] = cos[second] = row.cos[c];
      sin[second] = row.direction * row.sin[c];
      sin[first] = -sin[second];
    }
  }

  std::vector<float> cos, sin;
};

template <typename T>
void rotate_neighbours(const T* x, const ColumnAngles& angles, T* y) {
  for_lanes(0, static_cast<int64_t>(angles.cos.size()), [&](auto at) HEED_LANES {
    const auto own = load(x, at);
    const auto other = hn::Shuffle2301(own);
    store(hn::MulAdd(own, load(angles.cos.data(), at), hn::Mul(other, load(angles.sin.data(), at))),
          y, at);
  });
}

template <typename T>
void rotate_halves(const T* x, const RowAngles& angles, T* y) {
  const V32 direction = set(angles.direction);
  for_lanes(0, angles.half, [&](auto at) HEED_LANES {
    const auto cos = load(angles.cos, at), sin = hn::Mul(load(angles.sin, at), direction);
    const auto a = load(x, at), b = load(x + angles.half, at);
    store(hn::NegMulAdd(b, sin, hn::Mul(a, cos)), y, at);
    store(hn::MulAdd(a, sin, hn::Mul(b, cos)), y + angles.half, at);
  });
}

/// One row of heads of d columns, from column options.begin of each on.
template <typename T>
void rotate_row(const T* row, int64_t cols, const RotateOptions& options, const RowAngles& angles,
                T* result) {
  const int64_t d = cols / options.n_heads;
  if (options.layout == PairLayout::halves) {
    for (int64_t at = options.begin; at < cols; at += d)
      rotate_halves(row + at, angles, result + at);
    return;
  }
  thread_local ColumnAngles columns;
  columns.set(angles);
  for (int64_t at = options.begin; at < cols; at += d)
    rotate_neighbours(row + at, columns, result + at);
}

}  // namespace

void rotate(const Tensor& x, const Rotation& rotation, const RotateOptions& options, Tensor& y) {
  const float direction = options.inverse ? -1.0f : 1.0f;
  const int64_t half = rotation.cos.cols(), cols = x.cols(), d = cols / options.n_heads;
  const float* cos = rotation.cos.data<float>();
  const float* sin = rotation.sin.data<float>();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    parallel_for(x.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const T* row = from + n * cols;
        T* result = to + n * cols;
        if (from != to && 2 * half < d) std::copy(row, row + cols, result);
        rotate_row(row, cols, options, {cos + n * half, sin + n * half, half, direction}, result);
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(rotate);
void cpu::rotate(const Tensor& x, const Rotation& rotation, const RotateOptions& options,
                 Tensor& y) {
  HWY_DYNAMIC_DISPATCH(rotate)(x, rotation, options, y);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
