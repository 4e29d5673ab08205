#pragma once

#include "heed/kernels/gpu/code/vectors.h"

// Kernels that compute every element on its own: a thread has the neighbours of one vector.

namespace heed::kernels::gpu {

/// y[i] = f(x[i], i) for the elements of this thread. y may be x.
template <typename Y, typename X, typename F>
HEED_DEVICE void map_elements(int64_t count, Y* y, const X* x, const F& f) {
  constexpr int n = kVector<Y> < kVector<X> ? kVector<Y> : kVector<X>;
  const int64_t first =
      (int64_t{heed::gpu::block_x()} * heed::gpu::block_threads() + heed::gpu::thread_index()) * n;
  if (first >= count) return;
  float values[n];
  load_vector(x + first, count - first, 0.0f, values);
  HEED_UNROLL
  for (int i = 0; i < n; ++i) values[i] = f(values[i], first + i);
  store_vector(values, count - first, y + first);
}

/// y[i] = f(a[i], b[i], i). y may be a or b.
template <typename Y, typename A, typename B, typename F>
HEED_DEVICE void map_elements(int64_t count, Y* y, const A* a, const B* b, const F& f) {
  constexpr int of_y = kVector<Y>, of_x = kVector<A> < kVector<B> ? kVector<A> : kVector<B>;
  constexpr int n = of_y < of_x ? of_y : of_x;
  const int64_t first =
      (int64_t{heed::gpu::block_x()} * heed::gpu::block_threads() + heed::gpu::thread_index()) * n;
  if (first >= count) return;
  float values[n], others[n];
  load_vector(a + first, count - first, 0.0f, values);
  load_vector(b + first, count - first, 0.0f, others);
  HEED_UNROLL
  for (int i = 0; i < n; ++i) values[i] = f(values[i], others[i], first + i);
  store_vector(values, count - first, y + first);
}

}  // namespace heed::kernels::gpu
