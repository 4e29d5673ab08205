#include "heed/kernels/gpu/code/attention/rotary.h"

#include "heed/kernels/gpu/code/numbers.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Neighbouring elements, read and written at once.
template <typename T, int count>
struct alignas(count * sizeof(T)) Pack {
  T values[count];
};

template <typename T, int count>
HEED_DEVICE Pack<T, count> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, count>*>(from);
}

template <typename T>
HEED_DEVICE void rotate_pair(float cos, float sin, T& first, T& second) {
  const float a = wide(first), b = wide(second);
  first = narrow<T>(fmaf(-b, sin, a * cos));
  second = narrow<T>(fmaf(a, sin, b * cos));
}

/// Pairs [pair, pair + each) of a head whose rotated columns begin at x and y.
template <typename T, int each>
HEED_DEVICE void rotate_pairs(const RotaryArguments& in, int64_t row, int pair, const T* x, T* y) {
  const int64_t angle = row * in.half + pair;
  if (in.interleaved && each == 1) {  // a head may begin at an odd element
    T first = x[2 * pair], second = x[2 * pair + 1];
    rotate_pair(in.cos[angle], in.direction * in.sin[angle], first, second);
    y[2 * pair] = first;
    y[2 * pair + 1] = second;
    return;
  }
  if (in.interleaved) {
    auto pairs = load_pack<T, 2 * each>(x + 2 * pair);
    for (int i = 0; i < each; ++i)
      rotate_pair(in.cos[angle + i], in.direction * in.sin[angle + i], pairs.values[2 * i],
                  pairs.values[2 * i + 1]);
    *reinterpret_cast<Pack<T, 2 * each>*>(y + 2 * pair) = pairs;
    return;
  }
  auto first = load_pack<T, each>(x + pair), second = load_pack<T, each>(x + in.half + pair);
  for (int i = 0; i < each; ++i)
    rotate_pair(in.cos[angle + i], in.direction * in.sin[angle + i], first.values[i],
                second.values[i]);
  *reinterpret_cast<Pack<T, each>*>(y + pair) = first;
  *reinterpret_cast<Pack<T, each>*>(y + in.half + pair) = second;
}

/// Each thread has `each` pairs of a head, or as many columns that are copied.
template <typename T, int each>
HEED_DEVICE void rotate(const RotaryArguments& in) {
  const int copied = in.x == in.y ? 0 : in.d - 2 * in.half;
  const int units = (in.half + copied) / each;
  const int64_t unit = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  const int64_t head = unit / units, row = head / in.heads;
  if (row >= in.rows) return;
  const int at = static_cast<int>(unit % units) * each;
  const T* const x = static_cast<const T*>(in.x) + head * in.d;
  T* const y = static_cast<T*>(in.y) + head * in.d;
  if (at < in.half) {
    rotate_pairs<T, each>(in, row, at, x + in.begin, y + in.begin);
    return;
  }
  const int other = at - in.half, column = other < in.begin ? other : other + 2 * in.half;
  *reinterpret_cast<Pack<T, each>*>(y + column) = load_pack<T, each>(x + column);
}

}  // namespace

HEED_GPU_KERNEL(rotary_f32_1, RotaryArguments, in) { rotate<float, 1>(in); }
HEED_GPU_KERNEL(rotary_f32_2, RotaryArguments, in) { rotate<float, 2>(in); }
HEED_GPU_KERNEL(rotary_bf16_1, RotaryArguments, in) { rotate<Bf16, 1>(in); }
HEED_GPU_KERNEL(rotary_bf16_4, RotaryArguments, in) { rotate<Bf16, 4>(in); }

}  // namespace heed::kernels::gpu
